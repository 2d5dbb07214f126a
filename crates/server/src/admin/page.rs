//! The page: HTML, CSS and a script, in the program.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use qrcode::{Color, EcLevel, QrCode};
use serde_json::{Value, json};

pub(super) async fn html() -> Response {
    file("text/html; charset=utf-8", include_str!("page/page.html"))
}

pub(super) async fn script() -> Response {
    file(
        "text/javascript; charset=utf-8",
        include_str!("page/page.js"),
    )
}

pub(super) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("page/page.css"))
}

fn file(media_type: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(media_type))], text).into_response()
}

/// A QR code: how many modules it is wide, and a path of SVG over the dark ones. None if the text
/// is too long for one.
pub(super) fn qr(text: &str) -> Value {
    let Ok(code) = QrCode::with_error_correction_level(text, EcLevel::M) else {
        return Value::Null;
    };
    let (width, mut path) = (code.width(), String::new());
    for (index, color) in code.to_colors().iter().enumerate() {
        if *color == Color::Dark {
            let (x, y) = (index % width, index / width);
            path += &format!("M{x} {y}h1v1h-1z");
        }
    }
    json!({"width": width, "path": path})
}
