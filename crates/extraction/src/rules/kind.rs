//! Classifies a document by typical words.

use super::sheet::Sheet;
use super::tokens::find;
use crate::paper::PaperKind;

/// Rows at the beginning in which a paper says what it is.
const HEAD_ROWS: usize = 25;
/// Words of a cell that is a heading.
const SHORT: usize = 5;
/// A word in large letters, near the beginning, or anywhere.
const LARGE: u32 = 5;
const HEAD: u32 = 3;
const ANYWHERE: u32 = 1;
/// Places where a word counts anywhere.
const COUNTED: u32 = 4;
/// The minimum score of a kind.
const ENOUGH: u32 = 3;
/// Letters and digits from which a picture is one of a paper.
const PAPER_FROM: usize = 60;

const WORDS: &[(PaperKind, &[&str])] = &[
    (
        PaperKind::Invoice,
        &[
            "invoice",
            "tax invoice",
            "credit note",
            "bill",
            "amount due",
            "*rechnung",
            "rechnungsnummer",
            "rechnungsnr",
            "rechnungs nr",
            "rechnungsdatum",
            "rechnungsbetrag",
            "*gutschrift",
            "rechnungskorrektur",
            "facture",
            "avoir",
            "factura",
            "nota de credito",
            "fattura",
            "nota di credito",
            "*factuur",
            "factuurnummer",
            "factuurdatum",
            "creditnota",
            "faktura",
            "fatura",
        ],
    ),
    (
        PaperKind::Receipt,
        &[
            "receipt",
            "cash receipt",
            "sales receipt",
            "kassenbon",
            "quittung",
            "kassenbeleg",
            "barverkauf",
            "beleg nr",
            "recu",
            "ticket de caisse",
            "recibo",
            "ticket",
            "scontrino",
            "ricevuta",
            "documento commerciale",
            "kassabon",
            "bon",
            "kwitantie",
            "change due",
            "card payment",
            "kartenzahlung",
            "gegeben",
            "ruckgeld",
            "approved",
            "terminal",
        ],
    ),
    (
        PaperKind::Statement,
        &[
            "statement",
            "account statement",
            "bank statement",
            "statement of account",
            "opening balance",
            "closing balance",
            "kontoauszug",
            "kontostand",
            "alter saldo",
            "neuer saldo",
            "anfangssaldo",
            "endsaldo",
            "releve de compte",
            "ancien solde",
            "nouveau solde",
            "extracto",
            "extracto bancario",
            "extracto de cuenta",
            "saldo anterior",
            "estratto conto",
            "saldo iniziale",
            "saldo finale",
            "rekeningafschrift",
            "rekeningoverzicht",
            "beginsaldo",
            "eindsaldo",
        ],
    ),
    (
        PaperKind::Contract,
        &[
            "contract",
            "agreement",
            "this agreement",
            "the parties",
            "hereinafter",
            "vertrag",
            "mietvertrag",
            "kaufvertrag",
            "arbeitsvertrag",
            "dienstvertrag",
            "rahmenvertrag",
            "vertragsparteien",
            "vereinbarung",
            "contrat",
            "les parties",
            "contrato",
            "las partes",
            "contratto",
            "le parti",
            "overeenkomst",
            "contractpartijen",
            "de partijen",
            "lease",
            "witness whereof",
        ],
    ),
    (
        PaperKind::Id,
        &[
            "passport",
            "identity card",
            "identification card",
            "driving licence",
            "driver license",
            "drivers license",
            "residence permit",
            "date of birth",
            "place of birth",
            "nationality",
            "personalausweis",
            "reisepass",
            "fuhrerschein",
            "aufenthaltstitel",
            "staatsangehorigkeit",
            "geburtsort",
            "carte d identite",
            "carte nationale d identite",
            "passeport",
            "permis de conduire",
            "nationalite",
            "documento nacional de identidad",
            "pasaporte",
            "permiso de conducir",
            "carta d identita",
            "passaporto",
            "patente di guida",
            "cittadinanza",
            "paspoort",
            "identiteitskaart",
            "rijbewijs",
            "nationaliteit",
        ],
    ),
    (
        PaperKind::Tax,
        &[
            "tax return",
            "income tax",
            "tax assessment",
            "form 1040",
            "form 1099",
            "form w 2",
            "form w 9",
            "w 9",
            "internal revenue service",
            "hm revenue",
            "p60",
            "p45",
            "tax certificate",
            "tax year",
            "steuerbescheid",
            "einkommensteuerbescheid",
            "steuererklarung",
            "finanzamt",
            "lohnsteuerbescheinigung",
            "umsatzsteuervoranmeldung",
            "bescheid uber",
            "steuerbescheinigung",
            "avis d imposition",
            "avis d impot",
            "declaration de revenus",
            "direction generale des finances",
            "declaracion de la renta",
            "agencia tributaria",
            "modelo 303",
            "modelo 100",
            "dichiarazione dei redditi",
            "agenzia delle entrate",
            "modello 730",
            "modello f24",
            "certificazione unica",
            "belastingdienst",
            "belastingaangifte",
            "aanslag",
            "jaaropgaaf",
        ],
    ),
];

pub fn kind(sheet: &Sheet, is_picture: bool) -> PaperKind {
    if has_machine_readable_lines(sheet) {
        return PaperKind::Id;
    }
    let mut best = (ENOUGH - 1, PaperKind::Other);
    for (kind, phrases) in WORDS {
        let score = score(sheet, phrases);
        if score > best.0 {
            best = (score, *kind);
        }
    }
    match best.1 {
        PaperKind::Other if is_picture && letters(sheet) < PAPER_FROM => PaperKind::Photo,
        kind => kind,
    }
}

fn score(sheet: &Sheet, phrases: &[&str]) -> u32 {
    let (mut score, mut anywhere) = (0, 0);
    for (place, row) in sheet.rows.iter().enumerate() {
        for cell in &row.cells {
            let Some((from, _)) = find(&cell.tokens, phrases) else { continue };
            // What a paper is stands alone, or at the beginning of its line.
            let names_it = from == 0 || cell.tokens.len() <= SHORT;
            let large = cell.size >= 1.25 * sheet.usual_size && cell.tokens.len() <= SHORT;
            match (row.page == 0 && place < HEAD_ROWS, large) {
                (_, true) => score += LARGE,
                (true, _) if names_it => score += HEAD,
                _ if anywhere < COUNTED => {
                    anywhere += 1;
                    score += ANYWHERE;
                }
                _ => {}
            }
        }
    }
    score
}

/// The lines of a passport or card that machines read: `P<UTOERIKSSON<<ANNA<MARIA<<<<`.
fn has_machine_readable_lines(sheet: &Sheet) -> bool {
    let is_one = |text: &String| {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'<';
        squeezed.len() >= 28 && squeezed.contains("<<") && squeezed.bytes().all(plain)
    };
    sheet.texts().any(|text| is_one(&text))
}

fn letters(sheet: &Sheet) -> usize {
    let cells = sheet.rows.iter().flat_map(|row| &row.cells);
    cells.map(|cell| cell.text.chars().filter(|c| c.is_alphanumeric()).count()).sum()
}
