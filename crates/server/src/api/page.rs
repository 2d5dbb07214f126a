//! The OpenAPI document as a page without a script.

use serde_json::{Map, Value};

const STYLE: &str = include_str!("page.css");

/// The page of a document.
pub(super) fn render(document: &Value) -> String {
    let title = escape(&text(&document["info"]["title"]));
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p>{} The same as JSON: <a href=\"/openapi.json\">openapi.json</a>.</p>\n",
        escape(&text(&document["info"]["description"]))
    );
    html += "<nav aria-label=\"Routes\"><ul>\n";
    for (path, method, operation) in operations(document) {
        html += &format!(
            "<li><a href=\"#{}\"><b>{}</b> <code>{}</code></a> {}</li>\n",
            anchor(path, method),
            method.to_uppercase(),
            escape(path),
            escape(&text(&operation["summary"]))
        );
    }
    html += "</ul></nav>\n";
    for (path, method, operation) in operations(document) {
        html += &section(path, method, operation);
    }
    html += "<h2>Types</h2>\n";
    for (name, schema) in members(&document["components"]["schemas"]) {
        html += &format!("<section id=\"type-{0}\"><h3>{0}</h3>\n", escape(name));
        html += &format!(
            "<p>{}</p>\n{}</section>\n",
            escape(&text(&schema["description"])),
            fields(schema)
        );
    }
    html + "</main>\n</body>\n</html>\n"
}

/// Path, method, operation.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let of_path = |(path, item)| members(item).map(move |(method, value)| (path, method, value));
    members(&document["paths"])
        .flat_map(|(path, item)| of_path((path.as_str(), item)))
        .map(|(path, method, value)| (path, method.as_str(), value))
        .collect()
}

fn section(path: &str, method: &str, operation: &Value) -> String {
    let mut html = format!(
        "<section id=\"{}\">\n<h2><b>{}</b> <code>{}</code></h2>\n<p>{}</p>\n<p>{}</p>\n",
        anchor(path, method),
        method.to_uppercase(),
        escape(path),
        escape(&text(&operation["summary"])),
        escape(&text(&operation["description"]))
    );
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        html += &format!(
            "<p>Header <code>{}</code>: {}</p>\n",
            escape(&text(&parameter["name"])),
            escape(&text(&parameter["description"]))
        );
    }
    for (media_type, content) in members(&operation["requestBody"]["content"]) {
        html += &format!(
            "<p>Body: <code>{}</code> {}</p>\n",
            escape(media_type),
            kind(&content["schema"])
        );
    }
    html += "<table><thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Answer</th></tr></thead><tbody>\n";
    for (status, answer) in members(&operation["responses"]) {
        let bodies = members(&answer["content"]).map(|(media_type, content)| {
            format!(
                "<br><code>{}</code> {}",
                escape(media_type),
                kind(&content["schema"])
            )
        });
        html += &format!(
            "<tr><td>{}</td><td>{}{}</td></tr>\n",
            escape(status),
            escape(&text(&answer["description"])),
            bodies.collect::<String>()
        );
    }
    html + "</tbody></table>\n</section>\n"
}

/// The fields of an object.
fn fields(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let row = |(name, field): (&String, &Value)| {
        let is_required = required.contains(&name.as_str());
        format!(
            "<tr><td><code>{}</code></td><td>{}{}</td><td>{}</td></tr>\n",
            escape(name),
            kind(field),
            if is_required { "" } else { ", optional" },
            escape(&text(&field["description"]))
        )
    };
    let rows: String = members(&schema["properties"]).map(row).collect();
    format!("<table><tbody>\n{rows}</tbody></table>\n")
}

/// A type in words, with a link if it is one of ours.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|path| path.rsplit('/').next())
    {
        return format!("<a href=\"#type-{0}\">{0}</a>", escape(name));
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[choice].as_array() {
            let parts = parts.iter().filter(|part| part["type"] != "null");
            return parts.map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => escape(name),
        Value::Array(names) => {
            let names = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null");
            escape(&names.collect::<Vec<_>>().join(" or "))
        }
        _ => "any value".to_owned(),
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

fn anchor(path: &str, method: &str) -> String {
    let is_plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("{method}{}", path.chars().map(is_plain).collect::<String>())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_and_type_is_on_the_page() {
        let document = crate::api::both();
        let value = serde_json::to_value(&document).expect("JSON");
        let html = render(&value);
        for (path, method, _) in operations(&value) {
            assert!(
                html.contains(&format!("id=\"{}\"", anchor(path, method))),
                "{path}"
            );
        }
        for target in html.split("href=\"#").skip(1) {
            let target = target.split('"').next().expect("a target");
            assert!(html.contains(&format!("id=\"{target}\"")), "{target}");
        }
        assert!(
            !html.contains("<script") && !html.contains("http://") && !html.contains("https://")
        );
    }

    #[test]
    fn text_is_escaped() {
        let document = serde_json::json!({"info": {"title": "<b>&\""}});
        assert!(render(&document).contains("<h1>&lt;b&gt;&amp;&quot;</h1>"));
    }
}
