"""Signing in at an OpenID provider (OpenID Connect Core 1.0): authorization code flow with PKCE, state and nonce."""

import logging

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import OAuth
from flask import Blueprint, Flask, current_app, make_response, request, url_for
from flask import session as cookie
from joserfc.errors import JoseError
from requests import RequestException
from werkzeug import Response

from curator_web.access.openid_settings import OpenIDSettings
from curator_web.access.services import services
from curator_web.errors import ErrorText, NotSignedIn
from curator_web.users.identities import Claims, user_of
from curator_web.web.account.signing_in import own_address, sign_in_page, signed_in

blueprint = Blueprint("openid", __name__)
FAILED = ErrorText("signing in with the OpenID provider failed; try again, or ask your lead")
UNREACHABLE = ErrorText("the OpenID provider cannot be reached; try again later")
_WANTED = "openid-next"
# What the libraries raise for answers that are not as they should be.
_BROKEN = (AuthlibBaseError, JoseError, RequestException, RuntimeError, ValueError, KeyError, TypeError, AttributeError)
_SECONDS = 10  # that the provider may take to answer


def register(app: Flask, settings: OpenIDSettings) -> None:
    """Let people sign in there."""
    OAuth(app).register(
        "openid", client_id=settings.client_id, client_secret=settings.client_secret,
        server_metadata_url=settings.issuer.rstrip("/") + "/.well-known/openid-configuration",
        client_kwargs={"scope": "openid email", "code_challenge_method": "S256", "timeout": _SECONDS})
    app.register_blueprint(blueprint)


@blueprint.get("/sign-in/openid")
def begin() -> Response:
    """Send the browser there."""
    wanted = own_address(request.args.get("next", ""))
    try:
        response = _client().authorize_redirect(url_for(".answer", _external=True))
    except _BROKEN as error:
        return _refused(wanted, UNREACHABLE, 502, error)
    cookie[_WANTED] = wanted
    return response


@blueprint.get("/sign-in/openid/answer")
def answer() -> Response:
    """The browser comes back with a code, for which the provider says who it is."""
    wanted = cookie.pop(_WANTED, "")
    try:
        user = user_of(services().db, _claims(), _settings().new_role)
        return signed_in(user, wanted)
    except NotSignedIn as error:
        return _refused(wanted, error.args[0], 401)
    except RequestException as error:
        return _refused(wanted, UNREACHABLE, 502, error)
    except _BROKEN as error:
        return _refused(wanted, FAILED, 401, error)


def _claims() -> Claims:
    """What the provider says; its address of the person stands in the token, or is asked for."""
    client = _client()
    token = client.authorize_access_token()
    claims = dict(token["userinfo"])
    if "email" not in claims and client.load_server_metadata().get("userinfo_endpoint"):
        more = client.userinfo(token=token)
        if more.get("sub") == claims["sub"]:  # OpenID Connect Core 1.0, section 5.3.2
            claims = {**more, **claims}
    mail = claims.get("email") if claims.get("email_verified") is True else None
    return Claims(_settings().issuer, str(claims["sub"]), mail if isinstance(mail, str) else None)


def _settings() -> OpenIDSettings:
    settings = services().openid
    assert settings is not None  # the view is there with them only
    return settings


def _client():
    return current_app.extensions["authlib.integrations.flask_client"].create_client("openid")


def _refused(wanted: str, why: str, code: int, error: Exception | None = None) -> Response:
    """The page to sign in on. Of the error only its kind is logged: its text may hold what nobody else may read."""
    if error is not None:
        logging.getLogger(__name__).warning("signing in at the OpenID provider failed: %s", type(error).__name__)
    return make_response(sign_in_page(wanted, error=NotSignedIn(why)), code)
