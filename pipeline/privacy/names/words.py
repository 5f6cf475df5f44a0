"""Words that announce names or addresses: titles, greetings, labels, places; in English, German, French, Spanish."""


def _split(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


TITLES = _split(
    "mr mrs ms miss mx dr prof professor sir madam lady lord captain herr herrn frau hr fr m mme mlle me monsieur",
    "madame mademoiselle docteur maître sr sra srta dra señor señora señorita don doña ing rev")

# What is said right before a name.
GREETINGS = _split(
    "dear hi hello hey thanks cheers regards sincerely liebe lieber hallo moin grüße gruß danke geehrte geehrter",
    "servus cher chère bonjour salut bonsoir coucou merci cordialement estimado estimada querido querida hola",
    "saludos gracias atentamente buenas buenos bisous")
LABELS = (
    "name", "full name", "your name", "first name", "last name", "given name", "family name", "surname",
    "cardholder", "cardholder name", "name on card", "passenger", "traveler", "traveller", "guest", "employee",
    "contact", "contact person", "customer", "recipient", "sender", "ship to", "shipping to", "deliver to",
    "bill to", "attn", "attention", "driver", "patient", "student", "author", "owner", "assignee", "assigned to",
    "reporter", "manager", "host", "attendee", "member", "signed in as", "logged in as", "welcome", "welcome back",
    "my name is", "under the name", "in the name of", "user", "booked by", "created by", "submitted by",
    "reviewed by", "written by", "posted by", "account holder", "vorname", "nachname", "familienname",
    "vollständiger name", "ihr name", "fahrgast", "reisender", "passagier", "gast", "mitarbeiter", "mitarbeiterin",
    "ansprechpartner", "ansprechpartnerin", "ansprechpartnerin ist", "ansprechpartner ist", "kunde", "kundin",
    "empfänger", "empfängerin", "absender", "lieferadresse", "rechnungsadresse", "lieferung an", "kontoinhaber",
    "karteninhaber", "angemeldet als", "eingeloggt als", "willkommen", "ich heiße", "mein name ist", "läuft auf",
    "auf den namen", "erstellt von", "benutzer", "patientin", "zuständig", "nom", "prénom", "nom complet",
    "votre nom", "passager", "voyageur", "client", "cliente", "destinataire", "expéditeur", "livrer à",
    "livraison à", "adresse de livraison", "employé", "employée", "interlocuteur", "titulaire",
    "connecté en tant que", "connectée en tant que", "bienvenue", "je m'appelle", "je m’appelle", "mon nom est",
    "au nom de", "conseiller est", "conseillère est", "utilisateur", "créé par", "nombre", "apellido", "apellidos",
    "nombre completo", "nombre y apellidos", "su nombre", "pasajero", "pasajera", "viajero", "huésped", "empleado",
    "empleada", "contacto", "destinatario", "remitente", "enviar a", "entregar a", "facturar a", "titular",
    "sesión iniciada como", "conectado como", "bienvenido", "bienvenida", "me llamo", "mi nombre es",
    "a nombre de", "asesor es", "asesora es", "usuario", "creado por", "first_name", "last_name", "full_name",
    "firstname", "lastname", "fullname", "given_name", "family_name", "display_name", "displayname", "givenname",
    "familyname", "customer_name", "username")

# In code and JSON, these are said of all sorts of things.
IN_CODE = _split("name nom nombre user author contact owner host member client student driver manager")

# No names, though they are written like one and stand where one may stand.
NEVER = _split(
    "customer guest world back all team everyone everybody sir madam user users admin administrator member",
    "members friend friends you your us me my our the a an and or of in on at to for with this that it is new old",
    "home page account login sign log out up menu search cart help about contact support service services terms",
    "privacy policy settings profile email e-mail phone address name names first last street road avenue city",
    "state country zip code january february march april may june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday inc ltd llc gmbh ag kg co corp company group store",
    "shop online airlines airline air airways hotel hotels inn bank university college school hospital club",
    "studio studios press news times maps kunde kundin gast alle zusammen damen herren januar februar märz mai",
    "juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag konto anmelden",
    "abmelden suche warenkorb hilfe kontakt datenschutz impressum der die das und oder ein eine ihr ihre ihren",
    "sie wir ich du dein deine mein meine unser nach client clients tous toutes monde bienvenue le la les un une",
    "et ou votre vos nous je tu mon ma janvier février mars avril juin juillet août septembre octobre novembre",
    "décembre lundi mardi mercredi jeudi vendredi samedi dimanche compte aide panier cliente clientes todos todas",
    "mundo el los las una y o su sus nosotros yo mi enero febrero marzo abril mayo junio julio agosto septiembre",
    "octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo cuenta ayuda carrito",
    "edition premium plus pro max mini class king queen saint st san santa sankt not no yes")
# Before a given name they make a place of it.
SAINTS = _split("st san santa santo são saint sainte sankt")
# Given names and surnames that are more often something else: they count only beside another name.
AMBIGUOUS = _split(
    "line even else edit iso look denver orlando angeles francisco salvador trinidad dominica guadalupe",
    "paris london austin phoenix charlotte florence sydney chelsea brooklyn madison savannah dallas houston",
    "jackson lincoln washington jordan virginia georgia carolina dakota asia india china chad israel sofia vienna",
    "verona milan valencia mérida santiago cordoba lourdes victoria adelaide alexandria santa rosa cruz ciudad",
    "essen halle siegen april may june august summer autumn winter dawn eve noel easter christmas sunny misty",
    "stormy sky river mark will bill grant rich frank art bob jack drew pat rob sue chase hope faith grace joy",
    "rose lily iris ivy daisy violet jasmine olive holly heather hazel ginger amber ruby pearl crystal jade",
    "diamond star angel precious destiny trinity serenity harmony melody miracle prince princess duke earl major",
    "general dean bishop deacon pope hunter mason carter cooper porter tanner parker page paige miles cash chance",
    "case cole clay stone forest glen dale heath brook brooks lane ray max guy van don ben sage reed rusty sandy",
    "dusty norman roman christian german angelo kelly taylor logan ryder blaze ace victor mercedes alexa siri",
    "tesla ford dior lacoste aurora luna sol mar cielo luz paz consuelo dolores remedios soledad pilar rocío",
    "nieves blanca rosario león leon linde falk wolf ernst klemens urban mai clementine céleste aimé désiré",
    "constant parfait juste fleur marin martial lilas ambre manon océane marine reine royal prosper modeste mode",
    "prime premier bernina hand hans apple orange prada gap zara mango ikea pandora adidas puma opel audi mini",
    "fiat dodge chevrolet cadillac benz bosch siemens braun miele philips dyson nestlé kellogg heinz carnival",
    "maps")
PARTICLES = _split(
    "de del della di da dos das la las los le du des van von der den zu zum zur y e bin ibn al el ben")

# What makes a place of a person's name: before it, and after it.
PLACE_WORDS_BEFORE = _split(
    "rue avenue av boulevard bd place quai pont allée chemin impasse cours square métro gare lycée école musée",
    "théâtre hôtel stade parc jardin port aéroport fort lac mont île calle avenida avda plaza paseo puente camino",
    "carretera ronda glorieta parque teatro museo estadio hotel aeropuerto estación biblioteca colegio instituto",
    "universidad lago río isla ciudad lake mount mt cape camp café restaurant bar castle museum hospital",
    "university st station kino theater schloss am an im zum zur")
PLACE_WORDS_AFTER = _split(
    "street st road rd avenue ave boulevard blvd lane drive dr way square bridge airport museum park prize award",
    "university college school hospital center centre hall theatre theater tower house island lake mountain river",
    "beach stadium arena station library foundation institute church cathedral memorial monument hotel resort",
    "county valley straße strasse str platz allee weg ring brücke haus halle schule gymnasium universität",
    "stiftung preis denkmal flughafen bahnhof ufer damm & inc llc ltd gmbh ag sa co company corporation group",
    "store stores sons jeans beauty cosmetics clothing collection edition series city springs falls hills heights",
    "creek bay club cup")
# Makers and works whose names are those of persons.
BRANDS = frozenset((
    "calvin klein", "ralph lauren", "hugo boss", "christian dior", "yves rocher", "yves saint laurent",
    "louis vuitton", "tommy hilfiger", "michael kors", "marc jacobs", "kate spade", "tory burch", "vera wang",
    "donna karan", "jil sander", "paul smith", "ted baker", "karl lagerfeld", "giorgio armani", "emporio armani",
    "gianni versace", "carolina herrera", "adolfo domínguez", "jean paul gaultier", "nina ricci", "estée lauder",
    "elizabeth arden", "bobbi brown", "helena rubinstein", "mary kay", "jack daniel", "johnnie walker", "jim beam",
    "josé cuervo", "ben & jerry", "dolce gabbana", "jack wolfskin", "fred perry", "ben sherman", "levi strauss",
    "jimmy choo", "steve madden", "harry potter", "sherlock holmes", "james bond", "indiana jones", "peter pan",
    "mary poppins", "john deere", "wells fargo", "charles schwab", "morgan stanley", "merrill lynch",
    "goldman sachs", "johnson johnson", "mercedes benz", "aston martin", "alfa romeo", "harley davidson",
    "land rover", "lamborghini urus", "don quijote", "virgin atlantic", "trader joe", "whole foods", "dick tracy",
    "charlie brown", "bruno banani", "laura ashley", "philipp plein", "gerry weber", "peter hahn", "robert bosch",
    "bang olufsen", "franck provost", "agnès b"))
