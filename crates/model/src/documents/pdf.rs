//! PDF files of one page of text, for the sandbox and the sample workspace.

/// A page of text in built-in fonts; the lines are set so that columns of figures stand straight.
pub fn sheet(title: &str, lines: &[&str]) -> Vec<u8> {
    let mut page = b"BT /F1 18 Tf 20 TL 72 770 Td (".to_vec();
    page.extend(pdf_text(title));
    page.extend(b") Tj T* /F2 10 Tf 15 TL");
    for line in lines {
        page.extend(b" T* (");
        page.extend(pdf_text(line));
        page.extend(b") Tj");
    }
    page.extend(b" ET");
    let mut content = format!("<< /Length {} >>\nstream\n", page.len()).into_bytes();
    content.extend(page);
    content.extend(b"\nendstream");
    let font = |name: &str| {
        let font = "/Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding";
        format!("<< {font} /BaseFont /{name} >>").into_bytes()
    };
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
          /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>"
            .to_vec(),
        content,
        font("Helvetica-Bold"),
        font("Courier"),
    ];
    pdf_file(&objects)
}

/// A text's characters as the font's encoding has them, which is Latin-1 for all that is used.
fn pdf_text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for c in text.chars() {
        if matches!(c, '(' | ')' | '\\') {
            bytes.push(b'\\');
        }
        bytes.push(u8::try_from(u32::from(c)).unwrap_or(b'?'));
    }
    bytes
}

/// The objects with the table that says where each begins.
fn pdf_file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
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
