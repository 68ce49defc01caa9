//! The old words and what to write instead.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where a word is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In identifiers, prose and names of files.
    Everywhere,
    /// In identifiers and names of files; prose may use it.
    Identifiers,
}

/// One old word in all its forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its forms, in lower case.
    pub forms: &'static [&'static str],
    /// What to do about it.
    pub instead: &'static str,
    /// Where it is old.
    pub scope: Scope,
}

const fn word(forms: &'static [&'static str], instead: &'static str) -> Word {
    Word { forms, instead, scope: Scope::Everywhere }
}

const fn identifier(forms: &'static [&'static str], instead: &'static str) -> Word {
    Word { forms, instead, scope: Scope::Identifiers }
}

/// Every old word.
#[rustfmt::skip]
pub const WORDS: &[Word] = &[
    word(&["tell", "tells", "telling", "told"], "write reports, returns or message"),
    word(&["ask", "asks", "asked", "asking"], "write request, spec or options"),
    word(&["say", "says", "said", "saying"], "write output, reports or text"),
    word(&["seen", "unseen"], "write observed, detail or evidence"),
    word(&["kept"], "write stored, or within the limit"),
    word(&["void", "voids", "voided"], "write invalid"),
    word(&["look", "looks", "looked", "looking"], "write sample, reads or searches"),
    word(&["course", "courses"], "write time profile or trend"),
    word(&["judge", "judges", "judged", "judging", "judgement", "judgements"], "write classifies or tests"),
    word(&["cut", "cuts"], "write warm-up trim, or measured window"),
    word(&["beside"], "write next to or with"),
    word(&["nobody", "somebody", "whoever", "anybody", "everybody"], "rewrite without a person"),
    word(&["doubt", "doubts", "doubted", "doubtful"], "write warning"),
    word(&["innocence", "innocent", "honesty"], "write validity"),
    word(&["gravity", "grave", "graver", "gravest"], "write severity, severe"),
    word(&["living"], "write process identity, or running"),
    word(&["crew", "crews"], "write client pool"),
    word(&["seat", "seats", "seated"], "write client slot"),
    word(&["gate", "gates"], "write barrier"),
    word(&["kit"], "write buffers"),
    word(&["outlet", "outlets"], "write sender"),
    word(&["pulse", "pulses"], "write heartbeat"),
    word(&["census"], "write arrival counter"),
    word(&["arm", "arms"], "write sample (of a comparison)"),
    word(&["ledger", "ledgers"], "write accumulator, or noise history"),
    word(&["pond", "owed", "drain", "drains", "drained", "draining"], "write pending work or backlog"),
    word(&["ahead"], "write pipelined, or before"),
    word(&["books"], "write row-count check"),
    word(&["disproof"], "write smoke test"),
    word(&["complaint", "complaints"], "write error response"),
    word(&["ability", "abilities"], "write capability"),
    word(&["ruling", "rulings"], "write probe outcome"),
    word(&["quarters"], "write placement"),
    word(&["hear", "hears", "heard"], "write receives or reads"),
    word(&["promise", "promises", "promised"], "write guarantees"),
    identifier(&["words"], "write text, args, tokens or labels"),
    identifier(&["spend", "spends", "spending"], "write budget"),
    identifier(&["doing"], "write call mix"),
    identifier(&["traffic"], "write step traffic spec"),
    identifier(&["prove", "proves"], "write smoke test"),
    identifier(&["keeping"], "write limit status"),
];

/// The old words by form.
static BY_FORM: LazyLock<BTreeMap<&str, &Word>> = LazyLock::new(|| {
    WORDS.iter().flat_map(|word| word.forms.iter().map(move |form| (*form, word))).collect()
});

/// Returns the old word of this form, in any case.
pub(super) fn find(form: &str) -> Option<&'static Word> {
    BY_FORM.get(form.to_ascii_lowercase().as_str()).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn forms_are_lower_case_and_unique() {
        let forms: Vec<&str> = WORDS.iter().flat_map(|word| word.forms).copied().collect();
        assert!(forms.iter().all(|form| form.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert_eq!(forms.iter().collect::<BTreeSet<_>>().len(), forms.len());
    }
}
