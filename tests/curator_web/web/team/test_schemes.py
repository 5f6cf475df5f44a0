"""A project's labelling scheme: page, API and command; in versions, with the line of a mistake."""

import pytest
from click.testing import CliRunner

from curator_web.demonstrations.schemes import versions
from demotape.cli import main
from tests.curator_web.demonstrations.test_workflow import app, db, fill
from tests.support.curator.team_fixtures import LEA, csrf, signed_in

__all__ = ["app", "db", "fill"]
SCHEME = """\
questions:
  - name: success
    question: Was <b>it</b> done?
    scope: demonstration
    kind: choice
    options: [yes, no]
"""
WRONG = SCHEME.replace("[yes, no]", "[yes, yes]")


def test_a_lead_writes_it_on_the_page_and_members_read_it(app, db):  # noqa: F811
    lea, ann = signed_in(app, "lea"), signed_in(app, "ann")
    address, token = "/projects/main/scheme", csrf(lea, "/projects/main/scheme")
    assert "No questions yet." in ann.get(address).text and "<textarea" not in ann.get(address).text
    refused = lea.post(address, data={"csrf_token": token, "source": WRONG})
    assert refused.status_code == 400 and versions.versions(db, "main") == []
    assert "Line 6: question success: field options: Options must be unique." in refused.text
    assert '<li value="6" class="is-wrong" aria-current="true"><code>    options: [yes, yes]</code>' in refused.text
    assert "options: [yes, yes]\n</textarea>" in refused.text
    assert lea.post(address, data={"csrf_token": token, "source": SCHEME.replace("\n", "\r\n")}).status_code == 303
    assert "Was &lt;b&gt;it&lt;/b&gt; done?" in ann.get(address).text and "yes · no" in ann.get(address).text
    lea.post(address, data={"csrf_token": token, "source": SCHEME})  # the same: no new version
    lea.post(address, data={"csrf_token": token, "source": "questions: []"})
    assert [version.number for version in versions.versions(db, "main")] == [2, 1]
    assert "yes · no" in ann.get(f"{address}?version=1").text and ann.get(f"{address}?version=3").status_code == 404
    denied = ann.post(address, data={"csrf_token": csrf(ann, "/"), "source": SCHEME})
    assert denied.status_code == 403 and versions.read_current(db, "main").number == 2


def test_programs_read_and_write_it(app, db):  # noqa: F811
    client, address = app.test_client(), "/api/projects/main/scheme"
    lea, ann = ({"Authorization": f"Bearer {app.tokens[name]}"} for name in ("lea", "ann"))
    assert client.get(address, headers=ann).json == {"number": 0, "source": "", "questions": []}
    refused = client.put(address, json={"source": WRONG}, headers=lea)
    assert refused.status_code == 400 and refused.json["message"].startswith("Line 6: question success: field options")
    saved = client.put(address, json={"source": SCHEME}, headers=lea)
    assert saved.status_code == 200 and saved.json["number"] == 1 and saved.json["source"] == SCHEME
    assert saved.json["questions"][0]["options"] == ["yes", "no"]
    assert client.put(address, json={"source": "questions: []"}, headers=ann).status_code == 403
    assert client.get(address, headers=ann).json == saved.json


@pytest.mark.parametrize("source, code", [(SCHEME, 0), (WRONG, 2)])
def test_the_command_sets_and_prints_it(tmp_path, source, code):
    data, file = tmp_path / "data", tmp_path / "scheme.yaml"
    run = CliRunner().invoke
    assert run(main, ["user", "add", "lea", "--role", "lead", "--create", "--data", str(data), "--password-stdin"],
               input="a long pass phrase\n").exit_code == 0
    file.write_text(source, encoding="utf-8")
    done = run(main, ["project", "scheme", "main", str(file), "--data", str(data)])
    assert done.exit_code == code, done.output
    shown = run(main, ["project", "scheme", "main", "--data", str(data)])
    assert shown.output == (SCHEME if code == 0 else "questions: []\n")
    if code:
        assert f"{file}: line 6: question success: field options: Options must be unique." in done.output.replace(
            "\n", " ").replace("  ", " ")


def test_the_command_suggests_answers(tmp_path, app, db, fill):  # noqa: F811
    fill()
    versions.save(db, SCHEME, LEA)
    file = tmp_path / "prelabels.jsonl"
    words = ["project", "prelabels", "main", str(file), "--source", "model-7", "--db", db.engine.url.render_as_string(
        hide_password=False), "--data", str(tmp_path / "data")]
    for value, code in (("perhaps", 2), ("yes", 0)):
        file.write_text(f'{{"demonstration": "rec-1", "question": "success", "value": "{value}"}}', encoding="utf-8")
        done = CliRunner().invoke(main, words)
        assert done.exit_code == code, done.output
    assert "1 pre-labels of model-7 saved." in done.output
