pub struct Sample {
    pub live_key: String,
    pub test_key: String,
    pub read_key: String,
}
pub async fn fill(_app: &inbox::App) -> inbox::Result<Sample> {
    Err(inbox::Error::NotFound("demo"))
}
