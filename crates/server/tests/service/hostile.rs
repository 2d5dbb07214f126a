//! Slow, broken and greedy clients, which must not prevent the service of others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::world::{Service, World, get};

fn connect(service: &Service) -> TcpStream {
    let stream = TcpStream::connect(service.address()).expect("a connection");
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .expect("a timeout");
    stream
}

/// The service's answer before it closes the connection.
fn rest(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    // A reset is an end too.
    drop(stream.read_to_end(&mut said));
    String::from_utf8_lossy(&said).into_owned()
}

fn quick(world: &World) -> Service {
    world.configured(
        "[issuer]\ngate = \"none\"\n[connections]\nhead-seconds = 1\n[routes]\nseconds = 1",
    )
}

#[test]
fn slow_heads_and_bodies_are_cut_off() {
    let world = World::new();
    let issuer = quick(&world);
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = (0..50).map(|_| connect(&issuer)).collect();
    for stream in &mut slow {
        stream
            .write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nx: ")
            .expect("room");
    }
    let mut body = connect(&issuer);
    body.write_all(
        b"POST /token-request HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\
          content-type: application/private-token-request\r\n\r\nabc",
    )
    .expect("room");
    let idle = connect(&issuer);
    assert_eq!(
        get(&format!("{}/healthz", issuer.url())).0,
        200,
        "others are served"
    );
    for stream in slow {
        let said = rest(stream);
        assert!(said.is_empty() || said.contains("408"), "{said}");
    }
    let said = rest(body);
    assert!(said.starts_with("HTTP/1.1 408"), "{said}");
    assert!(said.contains("urn:sealstone:problem:timeout"), "{said}");
    assert_eq!(rest(idle), "");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn giant_bodies_and_heads_are_refused_early() {
    let world = World::new();
    let issuer = quick(&world);
    let head = "POST /token-request HTTP/1.1\r\nhost: a\r\n\
                content-type: application/private-token-request\r\n";
    let mut announced = connect(&issuer);
    let request = format!("{head}connection: close\r\ncontent-length: 99999999999\r\n\r\n");
    announced.write_all(request.as_bytes()).expect("room");
    assert!(rest(announced).starts_with("HTTP/1.1 413"));
    let mut chunked = connect(&issuer);
    let request = format!("{head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    chunked.write_all(request.as_bytes()).expect("room");
    for _ in 0..100 {
        // It may stop reading at any time.
        if chunked
            .write_all(format!("1000\r\n{}\r\n", "x".repeat(4096)).as_bytes())
            .is_err()
        {
            break;
        }
    }
    let said = rest(chunked);
    assert!(
        said.is_empty() || said.starts_with("HTTP/1.1 413"),
        "{said}"
    );
    let mut heads = connect(&issuer);
    for _ in 0..100 {
        if heads
            .write_all(format!("GET / HTTP/1.1\r\nx: {}\r\n", "y".repeat(4096)).as_bytes())
            .is_err()
        {
            break;
        }
    }
    let said = rest(heads);
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    assert_eq!(get(&format!("{}/healthz", issuer.url())).0, 200);
}

#[test]
fn a_full_route_says_so_and_keeps_no_other_from_work() {
    let world = World::new();
    let issuer = world.configured(
        "[issuer]\ngate = \"none\"\n[connections]\nhead-seconds = 1\n\
         [routes]\nseconds = 20\nconcurrency = 1",
    );
    let post = |sent: &str| {
        let mut stream = connect(&issuer);
        let head = "POST /v1/issue HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";
        let request = format!("{head}content-length: 2\r\n\r\n{sent}");
        stream.write_all(request.as_bytes()).expect("room");
        stream
    };
    let held = post("{");
    let until = Instant::now() + Duration::from_secs(15);
    let said = loop {
        let said = rest(post("{}"));
        if said.starts_with("HTTP/1.1 503") {
            break said;
        }
        assert!(Instant::now() < until, "the route is never full: {said}");
    };
    assert!(said.contains("urn:sealstone:problem:busy"), "{said}");
    assert!(said.contains("retry-after: 1"), "{said}");
    assert_eq!(get(&format!("{}/healthz", issuer.url())).0, 200);
    drop(held);
    let until = Instant::now() + Duration::from_secs(15);
    while rest(post("{}")).starts_with("HTTP/1.1 503") {
        assert!(Instant::now() < until, "the turn never comes back");
    }
}

#[test]
fn garbage_ends_no_service() {
    let world = World::new();
    let issuer = quick(&world);
    let inputs: [&[u8]; 7] = [
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /%ff%00/../.. HTTP/1.1\r\nhost: a\r\n\r\n",
        b"POST /v1/issue HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/issue HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcdef",
        b"GET /gate HTTP/1.1\r\nhost: a\r\nsealstone-gate: \xff\xfe \x80\r\n\r\n",
    ];
    for input in inputs {
        let mut stream = connect(&issuer);
        stream.write_all(input).expect("room");
        // The service continues after every answer.
        drop(rest(stream));
    }
    assert_eq!(get(&format!("{}/healthz", issuer.url())).0, 200);
    assert_eq!(issuer.stop(), Some(0));
}

#[test]
fn requests_that_began_end_before_the_service_does() {
    let world = World::new();
    let issuer = world.configured("[issuer]\ngate = \"none\"\n[connections]\nend-seconds = 5");
    let mut stream = connect(&issuer);
    stream
        .write_all(b"POST /v1/issue HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n")
        .expect("room");
    std::thread::sleep(Duration::from_millis(200));
    let stopping = std::thread::spawn(move || issuer.stop());
    std::thread::sleep(Duration::from_millis(200));
    stream.write_all(b"{}").expect("room");
    let said = rest(stream);
    assert!(said.starts_with("HTTP/1.1 400"), "{said}");
    assert_eq!(stopping.join().expect("a thread"), Some(0));
}
