//! Tests of the e-invoice readers.

use super::*;

const CII: &str = "<?xml version='1.0' encoding='UTF-8'?>
<r:CrossIndustryInvoice xmlns:r='urn:r' xmlns:m='urn:m' xmlns:u='urn:u'>
  <r:ExchangedDocument>
    <m:ID> R-2026-7 </m:ID><m:TypeCode>380</m:TypeCode>
    <m:IssueDateTime><u:DateTimeString format='102'>20261102</u:DateTimeString></m:IssueDateTime>
  </r:ExchangedDocument>
  <r:SupplyChainTradeTransaction>
    <m:ApplicableHeaderTradeAgreement>
      <m:SellerTradeParty><m:ID>9</m:ID><m:Name>Lumen
        Holz GmbH</m:Name></m:SellerTradeParty>
      <m:BuyerTradeParty><m:Name>Somebody</m:Name></m:BuyerTradeParty>
    </m:ApplicableHeaderTradeAgreement>
    <m:ApplicableHeaderTradeSettlement>
      <m:InvoiceCurrencyCode>EUR</m:InvoiceCurrencyCode>
      <m:SpecifiedTradePaymentTerms>
        <m:DueDateDateTime><u:DateTimeString format='102'>20261202</u:DateTimeString></m:DueDateDateTime>
      </m:SpecifiedTradePaymentTerms>
      <m:SpecifiedTradeSettlementHeaderMonetarySummation>
        <m:LineTotalAmount>100.00</m:LineTotalAmount>
        <m:GrandTotalAmount>119.00</m:GrandTotalAmount>
        <m:DuePayableAmount>19.00</m:DuePayableAmount>
      </m:SpecifiedTradeSettlementHeaderMonetarySummation>
    </m:ApplicableHeaderTradeSettlement>
  </r:SupplyChainTradeTransaction>
</r:CrossIndustryInvoice>";

const UBL: &str = "<Invoice xmlns='urn:i' xmlns:a='urn:a' xmlns:b='urn:b'>
  <b:ID>U-1</b:ID><b:IssueDate>2026-11-03</b:IssueDate><b:DueDate>2026-12-03Z</b:DueDate>
  <b:DocumentCurrencyCode>SEK</b:DocumentCurrencyCode>
  <a:AccountingSupplierParty><a:Party>
    <a:PartyName><b:Name>Lumen</b:Name></a:PartyName>
    <a:PartyLegalEntity><b:RegistrationName>Lumen Trä AB</b:RegistrationName></a:PartyLegalEntity>
  </a:Party></a:AccountingSupplierParty>
  <a:LegalMonetaryTotal>
    <b:TaxInclusiveAmount currencyID='SEK'>1250.5</b:TaxInclusiveAmount>
    <b:PayableAmount currencyID='SEK'>250.5</b:PayableAmount>
  </a:LegalMonetaryTotal>
</Invoice>";

const FATTURA: &str = "<p:FatturaElettronica xmlns:p='urn:p'>
  <FatturaElettronicaHeader><CedentePrestatore><DatiAnagrafici><Anagrafica>
    <Nome>Ada</Nome><Cognome>Neri</Cognome>
  </Anagrafica></DatiAnagrafici></CedentePrestatore></FatturaElettronicaHeader>
  <FatturaElettronicaBody><DatiGenerali><DatiGeneraliDocumento>
    <Divisa>EUR</Divisa><Data>2026-10-01</Data><Numero>12/A</Numero>
  </DatiGeneraliDocumento></DatiGenerali><DatiBeniServizi>
    <DatiRiepilogo><ImponibileImporto>10.10</ImponibileImporto><Imposta>2.22</Imposta></DatiRiepilogo>
    <DatiRiepilogo><ImponibileImporto>5.00</ImponibileImporto><Imposta>0.20</Imposta></DatiRiepilogo>
  </DatiBeniServizi></FatturaElettronicaBody>
</p:FatturaElettronica>";

fn fields(
    vendor: &str,
    amount: f64,
    currency: &str,
    date: &str,
    due: &str,
    no: &str,
) -> ExtractedFields {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ExtractedFields {
        vendor: text(vendor),
        amount: Some(amount),
        currency: text(currency),
        date: text(date),
        due_date: text(due),
        reference: text(no),
    }
}

#[test]
fn what_an_invoice_states_is_read_in_every_grammar() {
    for (xml, expected) in [
        (CII, fields("Lumen Holz GmbH", 119.0, "EUR", "2026-11-02", "2026-12-02", "R-2026-7")),
        (UBL, fields("Lumen Trä AB", 1250.5, "SEK", "2026-11-03", "2026-12-03", "U-1")),
        (FATTURA, fields("Ada Neri", 17.52, "EUR", "2026-10-01", "", "12/A")),
    ] {
        assert_eq!(read(xml.as_bytes()), Some(expected));
    }
}

#[test]
fn the_names_of_the_first_version_are_known_too() {
    let first = CII
        .replace("CrossIndustryInvoice", "CrossIndustryDocument")
        .replace("r:ExchangedDocument", "r:HeaderExchangedDocument")
        .replace("ApplicableHeaderTradeSettlement", "ApplicableSupplyChainTradeSettlement")
        .replace("SettlementHeaderMonetary", "SettlementMonetary");
    assert_eq!(read(first.as_bytes()), read(CII.as_bytes()));
}

#[test]
fn other_xml_and_broken_xml_are_no_invoices() {
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'>]><Invoice><ID>&a;</ID></Invoice>";
    for xml in ["<svg/>", "<Invoice/>", "<Invoice><ID>1</Invoice>", "", "text", bomb] {
        assert_eq!(read(xml.as_bytes()), None, "{xml}");
    }
}

#[test]
fn values_that_cannot_be_are_left_out() {
    let odd = UBL
        .replace("2026-11-03", "2026-13-03")
        .replace(">SEK<", ">kronor<")
        .replace("1250.5", "1e300");
    let read = read(odd.as_bytes()).expect("an invoice");
    assert_eq!((read.date, read.currency, read.amount), (None, None, Some(250.5)));
}
