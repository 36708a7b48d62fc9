//! By what a certificate is known to an ACME server that says when it wants it renewed (RFC 9773, section 4.1).

use instant_acme::CertificateIdentifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, Der};

use crate::net::der::{SEQUENCE, any, element};

/// Tags of the fields of a certificate (RFC 5280, section 4.1).
const VERSION: u8 = 0xa0;
const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const EXTENSIONS: u8 = 0xa3;
/// The key identifier within the extension.
const KEY_IDENTIFIER: u8 = 0x80;
/// The identifier of the extension that names the issuer's key: 2.5.29.35.
const AUTHORITY_KEY_IDENTIFIER: [u8; 3] = [0x55, 0x1d, 0x23];

/// The issuer's key and the serial number of the first certificate of a chain.
pub(super) fn certificate_id(chain: &str) -> Option<CertificateIdentifier<'static>> {
    let first = CertificateDer::from_pem_slice(chain.as_bytes()).ok()?;
    let (serial, key_id) = serial_and_issuer_key(&first)?;
    Some(CertificateIdentifier::new(Der::from_slice(key_id), Der::from_slice(serial)).into_owned())
}

fn serial_and_issuer_key(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut rest, _) = element(certificate, SEQUENCE)?;
    if rest.first() == Some(&VERSION) {
        rest = any(rest)?.1;
    }
    let (serial, mut rest) = element(rest, INTEGER)?;
    while rest.first() != Some(&EXTENSIONS) {
        rest = any(rest)?.1;
    }
    let (mut extensions, _) = element(any(rest)?.0, SEQUENCE)?;
    loop {
        let (extension, others) = element(extensions, SEQUENCE)?;
        let (name, value) = element(extension, OBJECT_IDENTIFIER)?;
        if name == AUTHORITY_KEY_IDENTIFIER {
            let (value, _) = element(value, OCTET_STRING)?;
            let (fields, _) = element(value, SEQUENCE)?;
            let (key_id, _) = element(fields, KEY_IDENTIFIER)?;
            return Some((serial, key_id));
        }
        extensions = others;
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use rcgen::{
        BasicConstraints, CertificateParams, IsCa, Issuer, KeyIdMethod, KeyPair, SerialNumber,
    };

    use super::*;

    #[test]
    fn a_certificate_is_known_by_its_issuers_key_and_its_number() {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_identifier_method = KeyIdMethod::PreSpecified(b"the issuer's key".to_vec());
        let issuer = Issuer::new(authority, KeyPair::generate().unwrap());
        let mut params = CertificateParams::new(vec!["x.example".into()]).unwrap();
        params.serial_number = Some(SerialNumber::from(vec![0x87, 0x65, 0x43, 0x21]));
        params.use_authority_key_identifier_extension = true;
        let leaf = params.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap();
        let id = certificate_id(&leaf.pem()).expect("an id");
        // The number as it is encoded: it is positive (RFC 9773, appendix A).
        let issuer_key = URL_SAFE_NO_PAD.encode("the issuer's key");
        assert_eq!(id.to_string(), format!("{issuer_key}.AIdlQyE"));
        let without = rcgen::generate_simple_self_signed(["x.example".to_owned()]).unwrap();
        assert!(certificate_id(&without.cert.pem()).is_none());
        assert!(certificate_id("").is_none());
    }
}
