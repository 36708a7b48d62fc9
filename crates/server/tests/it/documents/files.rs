//! Files that tests make for themselves.

/// A PDF of one page with lines of text at their places, in points from the top left corner.
pub fn pdf(texts: &[(f32, f32, &str)]) -> Vec<u8> {
    pdf_with(&page(texts), None)
}

/// The same with an XML file inside.
pub fn pdf_with_xml(texts: &[(f32, f32, &str)], xml: &str) -> Vec<u8> {
    pdf_with(&page(texts), Some(xml))
}

/// A PDF whose only page is a picture in shades of gray.
pub fn scan(width: usize, height: usize, gray: &[u8]) -> Vec<u8> {
    let picture = stream(
        &format!(
            "/Type /XObject /Subtype /Image /Width {width} /Height {height} \
             /ColorSpace /DeviceGray /BitsPerComponent 8"
        ),
        gray,
    );
    let content = stream("", b"q 595 0 0 842 0 0 cm /P Do Q");
    file(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
          /Resources << /XObject << /P 5 0 R >> >> >>"
            .to_vec(),
        content,
        picture,
    ])
}

pub fn invoice_xml() -> String {
    "<?xml version='1.0' encoding='UTF-8'?>
     <i:CrossIndustryInvoice xmlns:i='urn:i' xmlns:a='urn:a' xmlns:u='urn:u'>
       <i:ExchangedDocument><a:ID>X-42</a:ID>
         <a:IssueDateTime><u:DateTimeString format='102'>20261103</u:DateTimeString></a:IssueDateTime>
       </i:ExchangedDocument>
       <i:SupplyChainTradeTransaction>
         <a:ApplicableHeaderTradeAgreement>
           <a:SellerTradeParty><a:Name>Lumen Holz GmbH</a:Name></a:SellerTradeParty>
         </a:ApplicableHeaderTradeAgreement>
         <a:ApplicableHeaderTradeSettlement>
           <a:InvoiceCurrencyCode>EUR</a:InvoiceCurrencyCode>
           <a:SpecifiedTradeSettlementHeaderMonetarySummation>
             <a:GrandTotalAmount>99.90</a:GrandTotalAmount>
           </a:SpecifiedTradeSettlementHeaderMonetarySummation>
         </a:ApplicableHeaderTradeSettlement>
       </i:SupplyChainTradeTransaction>
     </i:CrossIndustryInvoice>"
        .to_owned()
}

/// An invoice as small firms write them.
pub const INVOICE: &[(f32, f32, &str)] = &[
    (60.0, 60.0, "Lumen Holz GmbH - Sandweg 3 - 20095 Hamburg"),
    (60.0, 110.0, "Mara Klein"),
    (60.0, 124.0, "Lindenallee 8"),
    (60.0, 138.0, "50667 Koeln"),
    (60.0, 220.0, "Rechnung"),
    (60.0, 250.0, "Rechnungsnummer"),
    (200.0, 250.0, "R-2026-118"),
    (60.0, 264.0, "Rechnungsdatum"),
    (200.0, 264.0, "02.11.2026"),
    (60.0, 278.0, "Zahlbar bis"),
    (200.0, 278.0, "16.11.2026"),
    (60.0, 330.0, "Regal Eiche"),
    (400.0, 330.0, "1.000,00 EUR"),
    (60.0, 370.0, "Nettobetrag"),
    (400.0, 370.0, "1.000,00 EUR"),
    (60.0, 384.0, "19 % MwSt."),
    (400.0, 384.0, "190,00 EUR"),
    (60.0, 398.0, "Gesamtbetrag"),
    (400.0, 398.0, "1.190,00 EUR"),
    (60.0, 780.0, "Lumen Holz GmbH   USt-IdNr. DE123456789   info@lumenholz.example"),
];

fn page(texts: &[(f32, f32, &str)]) -> Vec<u8> {
    let mut page = String::from("BT /F1 10 Tf");
    for (left, top, text) in texts {
        page.push_str(&format!(" 1 0 0 1 {left} {} Tm ({text}) Tj", 842.0 - top));
    }
    page.push_str(" ET");
    page.into_bytes()
}

fn pdf_with(page: &[u8], xml: Option<&str>) -> Vec<u8> {
    let names = match xml {
        Some(_) => " /Names << /EmbeddedFiles << /Names [(x.xml) 6 0 R] >> >>",
        None => "",
    };
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R{names} >>").into_bytes(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
          /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_vec(),
        stream("", page),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    ];
    if let Some(xml) = xml {
        objects.push(b"<< /Type /Filespec /F (x.xml) /EF << /F 7 0 R >> >>".to_vec());
        objects.push(stream("/Type /EmbeddedFile", xml.as_bytes()));
    }
    file(&objects)
}

pub fn stream(dictionary: &str, bytes: &[u8]) -> Vec<u8> {
    let mut stream = format!("<< {dictionary} /Length {} >>\nstream\n", bytes.len()).into_bytes();
    stream.extend(bytes);
    stream.extend(b"\nendstream");
    stream
}

/// The objects, numbered from 1, with the table that says where each begins.
pub fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.6\n".to_vec();
    let mut places = String::new();
    for (index, object) in objects.iter().enumerate() {
        places.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{} 0 obj\n", index + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (table, count) = (file.len(), objects.len() + 1);
    file.extend(format!("xref\n0 {count}\n0000000000 65535 f \n{places}").bytes());
    file.extend(format!("trailer\n<< /Size {count} /Root 1 0 R >>\n").bytes());
    file.extend(format!("startxref\n{table}\n%%EOF\n").bytes());
    file
}
