//! Tokens begin sessions.

use std::net::SocketAddr;
use std::time::Duration;

use serve::{Access, Options, Token, token};

use crate::client::{Reply, get};
use crate::toy_site::{Running, options, wait};

fn server(token: &Token) -> Running {
    let access = Access::Token { hash: token.hash, tls: None };
    Running::with(Options { access, ..options() })
}

fn with_cookie(address: SocketAddr, target: &str, cookie: &str) -> Reply {
    get(address, target, &[&format!("Cookie: a=b; {cookie}")])
}

#[test]
fn the_token_is_presented_once_and_its_session_outlasts_the_server() {
    let token = token().unwrap();
    let first = server(&token);
    let address = first.address;
    for target in ["/", "/nothing", "/assets/app.js", "/run/events"] {
        let reply = get(address, target, &[]);
        assert_eq!((reply.status, reply.body.contains("?token=")), (401, true), "{target}");
    }
    assert_eq!(first.script().opened, 0);
    let begun = get(address, &format!("/a/b?x=1&token={}&y=2", token.text), &[]);
    assert_eq!((begun.status, begun.header("location")), (303, Some("./b?x=1&y=2")));
    assert_eq!(begun.header("cache-control"), Some("no-store"));
    let cookie = begun.header("set-cookie").unwrap();
    let (pair, flags) = cookie.split_once("; ").unwrap();
    assert_eq!(flags, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict");
    assert!(!pair.contains(&token.text), "{pair}");
    assert_eq!(with_cookie(address, "/", pair).body, "the root");
    drop(first);

    let second = server(&token);
    let address = second.address;
    // The name of the cookie has the port, which is another one here.
    let (_, secret) = pair.split_once('=').unwrap();
    let pair = &format!("assay_session_{}={secret}", address.port());
    assert_eq!(with_cookie(address, "/", pair).body, "the root");
    let other = format!("{}0", &pair[..pair.len() - 1]);
    let ones = format!("{}1", &pair[..pair.len() - 1]);
    let wrong = if *pair == other { ones } else { other };
    for cookie in [&*wrong, "assay_session=1", &pair.replace('=', "=x"), ""] {
        assert_eq!(with_cookie(address, "/", cookie).status, 401, "{cookie}");
    }
}

#[test]
fn wrong_tokens_are_refused_and_limited_without_ending_sessions() {
    let token = token().unwrap();
    let server = server(&token);
    let address = format!("/?token={}", token.text);
    let begun = get(server.address, &address, &[]);
    let session = begun.header("set-cookie").unwrap().split("; ").next().unwrap().to_owned();
    let replies = (0..20).map(|_| get(server.address, "/?token=wrong", &[]));
    let statuses: Vec<u16> = replies.map(|reply| reply.status).collect();
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    assert_eq!(statuses[0], 401);
    assert_eq!(with_cookie(server.address, "/", &session).status, 200);
    let hash = token.hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    // After the second of the limit.
    wait(Duration::from_millis(1100));
    assert_eq!(get(server.address, &format!("/?token={hash}"), &[]).status, 401);
    assert_eq!(get(server.address, &address, &[]).status, 303);
}
