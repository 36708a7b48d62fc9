//! Invoices: amounts, dates, references and vendors.

use extraction::PaperKind;

struct Case {
    text: &'static str,
    vendor: &'static str,
    amount: f64,
    currency: &'static str,
    date: &'static str,
    due: &'static str,
    reference: &'static str,
}

#[test]
fn an_invoice_is_read_in_every_language() {
    for case in CASES {
        let paper = extraction::open(case.text.as_bytes()).expect("a text").paper();
        let fields = paper.fields;
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        assert_eq!(paper.kind, PaperKind::Invoice, "{}", case.text);
        assert_eq!(fields.amount, Some(case.amount), "{}", case.text);
        assert_eq!(fields.currency, text(case.currency), "{}", case.text);
        assert_eq!(fields.date, text(case.date), "{}", case.text);
        assert_eq!(fields.due_date, text(case.due), "{}", case.text);
        assert_eq!(fields.reference, text(case.reference), "{}", case.text);
        assert_eq!(fields.vendor, text(case.vendor), "{}", case.text);
    }
}

const CASES: &[Case] = &[
    Case {
        text: "
Bright Lamps Ltd
12 Mill Lane, Leeds LS1 4AB
VAT No GB123456789                                 accounts@brightlamps.example

INVOICE

Invoice number: BL-2041                            Bill to:
Invoice date:   14 March 2026                      Mara Klein
Due date:       13 April 2026                      8 Lime Road

Description                     Qty      Price       Amount
Desk lamp                         2     £45.00       £90.00

                                      Subtotal       £90.00
                                      VAT 20%        £18.00
                                      Total         £108.00
",
        vendor: "Bright Lamps Ltd",
        amount: 108.0,
        currency: "GBP",
        date: "2026-03-14",
        due: "2026-04-13",
        reference: "BL-2041",
    },
    Case {
        text: "
Lumen Holz GmbH - Sandweg 3 - 20095 Hamburg

Frau
Mara Klein
Lindenallee 8
50667 Köln

Rechnung Nr. R-2026/118 vom 02.11.2026

Regal Eiche                                    1.000,00 €
Summe netto                                    1.000,00 €
zzgl. 19 % MwSt.                                 190,00 €
Gesamtbetrag                                   1.190,00 €

Zahlbar bis 16.11.2026 ohne Abzug.
",
        vendor: "Lumen Holz GmbH",
        amount: 1190.0,
        currency: "EUR",
        date: "2026-11-02",
        due: "2026-11-16",
        reference: "R-2026/118",
    },
    Case {
        text: "
Les Lampes Claires SARL
4 rue du Port, 44000 Nantes                SIRET 12345678900011

Facture n° FC-0087

Date de facturation : 3 juin 2026
Date d'échéance : 3 juillet 2026

Total HT                                       1 200,00 €
TVA 20 %                                         240,00 €
Total TTC                                      1 440,00 €
",
        vendor: "Les Lampes Claires SARL",
        amount: 1440.0,
        currency: "EUR",
        date: "2026-06-03",
        due: "2026-07-03",
        reference: "FC-0087",
    },
    Case {
        text: "
Luz del Norte S.L.
Calle Mayor 5, 28013 Madrid                     CIF B12345678

FACTURA

Número de factura: 2026-0455
Fecha de emisión: 7 de julio de 2026
Fecha de vencimiento: 06/08/2026

Base imponible                                    500,00 €
IVA 21 %                                          105,00 €
Total factura                                     605,00 €
",
        vendor: "Luz del Norte S.L.",
        amount: 605.0,
        currency: "EUR",
        date: "2026-07-07",
        due: "2026-08-06",
        reference: "2026-0455",
    },
    Case {
        text: "
Lume Chiaro S.r.l.
Via Roma 10, 20121 Milano                 P.IVA IT01234567890

Fattura n. 118/A del 12/05/2026
Spett.le Mara Klein

Imponibile                                      1.000,00
IVA 22%                                           220,00
Totale documento EUR                            1.220,00
Scadenza pagamento 11/06/2026
",
        vendor: "Lume Chiaro S.r.l.",
        amount: 1220.0,
        currency: "EUR",
        date: "2026-05-12",
        due: "2026-06-11",
        reference: "118/A",
    },
    Case {
        text: "
Helder Licht B.V.
Kade 7, 3011 AB Rotterdam               KvK 12345678
                                        BTW NL123456789B01

Factuur

Factuurnummer   2026301          Factuurdatum   9 januari 2026
Vervaldatum     23-01-2026

Subtotaal                                        € 100,00
BTW 21%                                           € 21,00
Totaal te betalen                                € 121,00
",
        vendor: "Helder Licht B.V.",
        amount: 121.0,
        currency: "EUR",
        date: "2026-01-09",
        due: "2026-01-23",
        reference: "2026301",
    },
    Case {
        text: "
Bright Lamps Inc.
200 Main St, Springfield, IL 62701

INVOICE #7781
Date: 04/05/2026
Please pay by 05/05/2026

Lamp                                              $1,250.00
Sales tax                                           $100.00
Amount due                                        $1,350.00
",
        vendor: "Bright Lamps Inc.",
        amount: 1350.0,
        currency: "USD",
        date: "2026-04-05",
        due: "2026-05-05",
        reference: "7781",
    },
];

#[test]
fn a_column_of_values_below_its_labels_is_read() {
    let text = "
Helder Licht B.V.

Factuur

Klant          Factuurdatum     Factuurnummer      Vervaldatum
K-100          8-9-2026         VF1005193          22-9-2026

Totaal incl. BTW                                     € 49,99
";
    let fields = extraction::open(text.as_bytes()).expect("a text").paper().fields;
    assert_eq!(fields.date.as_deref(), Some("2026-09-08"));
    assert_eq!(fields.due_date.as_deref(), Some("2026-09-22"));
    assert_eq!(fields.reference.as_deref(), Some("VF1005193"));
    assert_eq!(fields.amount, Some(49.99));
}

#[test]
fn the_whole_counts_and_not_what_is_left_to_pay() {
    let text = "
Rechnung 12
Rechnungssumme ohne USt.      100,00
Steuerbetrag                   19,00
Bruttosumme                   119,00
Erhaltene Anzahlungen         -69,00
Zahlbetrag                     50,00 EUR
";
    assert_eq!(
        extraction::open(text.as_bytes()).expect("a text").paper().fields.amount,
        Some(119.0)
    );
}

#[test]
fn a_credit_note_is_about_what_it_gives_back() {
    let text = "Avoir AV-5\nTotal HT   -100,00 €\nTVA   -20,00 €\nTotal TTC   -120,00 €\n";
    let paper = extraction::open(text.as_bytes()).expect("a text").paper();
    assert_eq!((paper.kind, paper.fields.amount), (PaperKind::Invoice, Some(120.0)));
}
