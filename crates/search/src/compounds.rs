//! Words inside German compounds: who searches for `Rechnung` finds `Monatsrechnungen`, and who searches
//! for `Monat` too. A compound is taken apart where both an entry of the list and enough of another
//! word are in it.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::fold::fold_name;

/// Letters of the shortest word that is taken apart, and of its first part.
const COMPOUND_LETTERS: usize = 8;
const FIRST_LETTERS: usize = 3;
/// What follows a noun in another case or number.
const CASE_ENDINGS: [&str; 8] = ["", "en", "n", "e", "s", "es", "er", "ern"];
/// What joins a noun to the next one.
const LINKS: [&str; 6] = ["", "s", "n", "en", "es", "er"];

/// Nouns that customers' mail is about, and that stand at the end or the beginning of compounds.
const NOUNS: &str = "
    abbuchung ablauf abnahme abo abonnement abrechnung absage abschlag abschluss absender abteilung
    adresse aktion akte analyse anbieter änderung anfrage angabe angebot anhang anlage anleitung
    anmeldung anschluss anschrift ansprache ansprechpartner antrag antwort anwalt anwendung anzahlung
    anzeige apotheke arbeit artikel arzt aufnahme auftrag aufwand ausfall auskunft ausstattung ausweis
    auszahlung auszug automat
    bahn bank batterie bedarf bedienung bedingung befehl beginn begleichung behandlung beitrag beleg
    beratung bereich bericht bescheid bescheinigung beschreibung beschwerde besitzer bestand
    bestätigung bestellung besuch betrag betreuer betrieb bewertung bezahlung bezeichnung bezug
    bildschirm bohrer bonus brief broschüre buchung büro
    computer creme
    datei daten datenschutz datum dauer dienst dienstleister diplom dokument drucker
    ebene eigentümer einbau eingang einkauf einladung einlage einlösung einrichtung einstellung
    eintrag eintritt einwilligung einzahlung einzug empfang empfänger entscheidung entwurf erfahrung
    ergebnis erhöhung erinnerung erklärung ermäßigung ersatz erstattung erzeugnis etikett
    fahrer fahrkarte fahrrad fahrt fahrzeug faktor farbe fehler feier fenster ferien fernseher
    festnetz feuer filiale finanzamt firma flasche flug formular forderung fracht frage freigabe frist
    führung
    garantie garten gebühr gebot gefahr gehalt geld gerät gericht gesellschaft gespräch gesuch getränk
    gewicht gewinn glas gruppe gutachten guthaben gutschein gutschrift
    hafen haftung halter handel handy hausnummer heizung hersteller hilfe hinweis hotel
    information inhaber inhalt inkasso institut interesse internet
    jahr jahre jacke
    kabel kalender kamera kanzlei karte kasse kauf käufer kennung kennwort kilometer kinder klage
    klausel kleid kleidung klinik kollege komponente konto kontrolle kopie kosten kraft kredit küche
    kultur kunde kündigung kurs
    laden lager lampe land lasche leben leiter leistung leitung lieferant lieferschein lieferung liste
    lizenz lohn lösung
    mahnung makler mangel marke maschine material mehrwertsteuer meldung menge merkmal messe miete
    mieter minute mitarbeiter mitglied mitgliedschaft mitteilung möbel modell monat motor mutter
    nachlass nachname nachricht nachweis name nebenkosten netz netzteil newsletter niederlassung notiz
    nummer nutzer nutzung
    objekt option ordner organisation original
    paket papier partner passwort patient pauschale pension person personal pflege plattform police
    portal position post praxis preis premium prinzip problem produkt produktion programm projekt
    protokoll provision prüfung punkt
    qualität quartal quelle quittung
    rabatt rahmen rate rechner rechnung recht regelung register reinigung reise reklamation rente
    reparatur reservierung restaurant retoure richtlinie rückgabe rücksendung rückzahlung rufnummer
    runde
    saldo satz schaden schalter schein scheibe schicht schlüssel schrank schreiben schuhe schuld schule
    schutz seite sekunde sendung server service sicherheit signatur sitz software sommer sonder
    speicher sperre spende sprache stadt standort stand station status stelle stempel steuer störung
    straße strom stück studium stunde summe system
    tabelle tarif tasche tasse tätigkeit technik teil teilnahme teilnehmer telefon termin test ticket
    tisch titel tonne transport treffen
    übergabe übernahme überprüfung übersicht übertragung überweisung umbuchung umlage umsatz
    umtausch umzug unfall unterkunft unterlage unternehmen unterricht unterschrift untersuchung urkunde
    urlaub urteil
    vater verband verbindung verbrauch verein vereinbarung verfahren verfügung vergleich vergütung
    verkauf verkäufer verlag verlängerung verlust vermieter vermittlung verpackung versand version
    versicherung versorgung verspätung vertrag vertreter verwalter verwaltung verwendung verzeichnis
    verzug volumen vollmacht voranschlag vorgang vorlage vorname vorschlag vorschrift vorschuss
    wagen währung wahl ware wartung wasser wechsel weihnachten werbung werk werkstatt werkzeug wert
    wettbewerb widerruf widerspruch winter wirtschaft woche wochen wohnung wunsch
    zähler zahlung zeichen zeichnung zeile zeit zeitraum zeitschrift zeitung zentrale zentrum zertifikat
    zettel zeugnis ziel zimmer zinsen zubehör zufriedenheit zugang zusage zusatz zuschlag zuschuss
    zustellung zustimmung zweck
";

static KNOWN: LazyLock<HashSet<String>> =
    LazyLock::new(|| NOUNS.split_whitespace().map(fold_name).collect());

/// The nouns that a folded word is made up of, without case and number; none when it is no compound.
pub fn parts(word: &str) -> Vec<&str> {
    if word.len() < COMPOUND_LETTERS || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return Vec::new();
    }
    for place in FIRST_LETTERS..word.len() - FIRST_LETTERS {
        let (first, last) = word.split_at(place);
        if let Some(last) = noun(last, &CASE_ENDINGS) {
            return noun(first, &LINKS).into_iter().chain([last]).collect();
        }
    }
    Vec::new()
}

/// The noun of the list that the text is, followed by one of the endings.
fn noun<'w>(text: &'w str, endings: &[&str]) -> Option<&'w str> {
    let stems = endings.iter().filter_map(|ending| text.strip_suffix(ending));
    stems.into_iter().find(|stem| KNOWN.contains(*stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compound_is_taken_apart_into_its_nouns() {
        let compounds = [
            ("monatsrechnungen", &["monat", "rechnung"][..]),
            ("rechnungsnummer", &["rechnung", "nummer"]),
            ("kundenkontos", &["kunde", "konto"]),
            ("versicherungsvertrage", &["versicherung", "vertrag"]),
            ("stromrechnung", &["strom", "rechnung"]),
            ("stornogebuhr", &["gebuhr"]),
            ("ruckerstattung", &["erstattung"]),
            ("mietvertrag", &["vertrag"]),
        ];
        for (word, expected) in compounds {
            assert_eq!(parts(word), expected, "{word}");
        }
    }

    #[test]
    fn other_words_stay_whole() {
        for word in ["rechnung", "rechnungen", "customer", "delivery", "acknowledgement", "vertrag"]
        {
            assert_eq!(parts(word), Vec::<&str>::new(), "{word}");
        }
        assert_eq!(parts("12345678rechnung"), Vec::<&str>::new());
    }
}
