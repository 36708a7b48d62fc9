//! People of small workspaces who look at their lists while something else goes on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::fill::HostedWorkspace;
use crate::client::Client;
use crate::requests::request;

/// Clients that look at lists, and the pause of each between two looks.
const CLIENTS: u64 = 4;
const BETWEEN: Duration = Duration::from_millis(100);

/// The request of each workspace's list.
pub fn requests(workspaces: &[HostedWorkspace]) -> Arc<Vec<String>> {
    let list = |one: &HostedWorkspace| request(&one.key, "GET", "/conversations", "");
    Arc::new(workspaces.iter().map(list).collect())
}

/// Asks for the list of every workspace once; answers how many were served.
pub async fn serve_all(server: SocketAddr, requests: &[String]) -> Result<usize, String> {
    let mut client = Client::connect(server).await.map_err(|error| error.to_string())?;
    let mut served = 0;
    for request in requests {
        let answer = client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
        served += usize::from(answer.status == 200);
    }
    Ok(served)
}

/// Asks for lists of workspaces drawn at random; answers how long each took, in milliseconds.
pub async fn ask(
    server: SocketAddr,
    requests: &Arc<Vec<String>>,
    seconds: f64,
) -> Result<Vec<f64>, String> {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    let mut asking = JoinSet::new();
    for number in 0..CLIENTS {
        asking.spawn(ask_until(server, requests.clone(), number, until));
    }
    let mut took = Vec::new();
    while let Some(asked) = asking.join_next().await {
        took.extend(asked.map_err(|error| error.to_string())??);
    }
    Ok(took)
}

async fn ask_until(
    server: SocketAddr,
    requests: Arc<Vec<String>>,
    number: u64,
    until: Instant,
) -> Result<Vec<f64>, String> {
    let mut chance = StdRng::seed_from_u64(number);
    let mut client = Client::connect(server).await.map_err(|error| error.to_string())?;
    let mut took = Vec::new();
    sleep(BETWEEN.mul_f64(chance.random())).await;
    while Instant::now() < until {
        let request = &requests[chance.random_range(0..requests.len())];
        let begun = Instant::now();
        let answer = client.call(request.as_bytes()).await.map_err(|error| error.to_string())?;
        if answer.status != 200 {
            return Err(format!("a list was answered with status {}", answer.status));
        }
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        sleep(BETWEEN).await;
    }
    Ok(took)
}
