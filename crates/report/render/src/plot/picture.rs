//! One picture: an SVG drawing with title and caption.

use maud::{Markup, PreEscaped, html};
use model::visible;

/// The style sheet of all drawings.
pub(crate) const STYLE: &str = include_str!("plot.css");

/// Taller drawings of details are folded: two screens of a laptop.
const TALL: f64 = 1_500.0;

/// Name, title and caption of a drawing.
#[derive(Clone)]
pub(crate) struct Labels {
    /// File name without extension.
    pub(crate) name: String,
    /// Its heading.
    pub(crate) title: String,
    /// How to read it.
    pub(crate) caption: String,
}

impl Labels {
    pub(crate) fn new(name: &str, title: &str, caption: &str) -> Self {
        Self { name: name.to_owned(), title: title.to_owned(), caption: caption.to_owned() }
    }
}

/// A finished drawing.
#[derive(Clone)]
pub(crate) struct Picture {
    pub(crate) labels: Labels,
    /// What to click on to see it, for a drawing that is too long for a page.
    pub(crate) folded: Option<String>,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) body: Markup,
}

impl Picture {
    /// Returns the drawing with title and caption, for a page that holds [`STYLE`].
    pub(crate) fn figure(&self) -> Markup {
        html! {
            figure id=(self.labels.name) tabindex="0" {
                h3 { (self.labels.title) }
                figcaption { (self.labels.caption) }
                @if let Some(summary) = &self.folded {
                    details { summary { (summary) } (self.svg(None)) }
                } @else {
                    (self.svg(None))
                }
            }
        }
    }

    /// Returns the drawing with title and caption changed by `change`.
    pub(crate) fn map_labels(&self, change: &dyn Fn(&str) -> String) -> Self {
        let Labels { name, title, caption } = &self.labels;
        let labels = Labels::new(name, &change(title), &change(caption));
        Self { labels, ..self.clone() }
    }

    /// Returns the drawing, folded when it is longer than a reader would scroll through.
    pub(crate) fn foldable(self) -> Self {
        let folded = (self.height > TALL).then(|| "Show the drawing: it is long".to_owned());
        Self { folded, ..self }
    }

    /// Returns the drawing as a separate file.
    pub(crate) fn file(&self) -> String {
        let svg = self.svg(Some(STYLE)).0;
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", visible(&svg))
    }

    /// Returns the drawing alone, with a style sheet of its own as a separate file needs.
    pub(crate) fn svg(&self, style: Option<&str>) -> Markup {
        let view = format!("0 0 {} {}", px(self.width), px(self.height));
        let is_file = style.is_some();
        html! {
            svg xmlns=[is_file.then_some("http://www.w3.org/2000/svg")] class="plot"
                viewBox=(view) width=(px(self.width)) height=(px(self.height))
                role="img" aria-label=(self.labels.title) {
                title { (self.labels.title) }
                @if let Some(style) = style {
                    style { (PreEscaped(style)) }
                    rect width="100%" height="100%" fill="#fff" {}
                }
                (self.body)
            }
        }
    }
}

/// Returns a coordinate with one decimal at most: small files, no visible loss.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Returns text at a point; `class` gives size and alignment (see the style sheet).
pub(crate) fn text(x: f64, y: f64, class: &str, content: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) class=(class) { (content) } }
}

/// Returns a straight line.
pub(crate) fn line(from: (f64, f64), to: (f64, f64), class: &str) -> Markup {
    html! {
        line x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) class=(class) {}
    }
}
