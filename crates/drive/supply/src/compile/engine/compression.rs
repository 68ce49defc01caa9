//! Compression libraries bundled into engines.

use std::path::Path;

use crate::compile::recipe::{HEADERS_DIR, Recipe, read};
use crate::error::Result;
use crate::program::files_in;

/// Adds snappy, from the folder of its release.
pub(super) fn snappy(recipe: &mut Recipe, dir: &Path) -> Result<()> {
    let template = read(&dir.join("snappy-stubs-public.h.in"))?;
    recipe.headers.push(("snappy-stubs-public.h", public_stubs(&template)));
    let flags = ["-std=c++11", "-DNDEBUG", "-DHAVE_BUILTIN_CTZ=1", "-DHAVE_BUILTIN_EXPECT=1"];
    let names = ["snappy.cc", "snappy-c.cc", "snappy-sinksource.cc", "snappy-stubs-internal.cc"];
    recipe.add(&[Path::new(HEADERS_DIR), dir], &flags, names.map(|name| dir.join(name)));
    Ok(())
}

/// Returns the header that snappy's own build makes of its template, on a POSIX system.
///
/// The template tests for headers (`HAVE_..._H_01` from CMake, `@ac_cv_...@` from the older
/// autoconf) and names the version, which is unused here.
fn public_stubs(template: &str) -> String {
    let mut made = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find(['$', '@']) {
        let (before, marked) = rest.split_at(start);
        made.push_str(before);
        let (open, close) = if marked.starts_with('$') { ("${", '}') } else { ("@", '@') };
        let inside = marked.strip_prefix(open).and_then(|inside| inside.split_once(close));
        match inside {
            Some((name, after)) if name.chars().all(is_name) && !name.is_empty() => {
                made.push('1');
                rest = after;
            }
            _ => {
                made.push_str(&marked[..1]);
                rest = &marked[1..];
            }
        }
    }
    made.push_str(rest);
    made
}

/// Returns whether a character may be part of a template variable.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Adds LZ4, from its folder `lib`.
///
/// Source: LZ4, `lib/Makefile` (files, and the prefix of its own copy of xxHash).
pub(super) fn lz4(recipe: &mut Recipe, dir: &Path) {
    let names = ["lz4.c", "lz4frame.c", "lz4hc.c", "xxhash.c"];
    let flags = ["-DNDEBUG", "-DXXH_NAMESPACE=LZ4_"];
    recipe.add(&[dir], &flags, names.map(|name| dir.join(name)));
}

/// Adds Zstandard without its legacy formats, from its folder `lib`.
///
/// Source: Zstandard, `lib/Makefile` (files, and the prefix of its own copy of xxHash).
pub(super) fn zstd(recipe: &mut Recipe, dir: &Path) -> Result<()> {
    let common = dir.join("common");
    let defines = ["-DNDEBUG", "-DXXH_NAMESPACE=ZSTD_", "-DZSTD_LEGACY_SUPPORT=0"];
    for part in ["common", "compress", "decompress", "dictBuilder"] {
        recipe.add(&[dir, &common], &defines, files_in(&dir.join(part), &["c", "S"])?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_conditions_are_replaced_by_one() {
        let cmake = "#if !${HAVE_SYS_UIO_H_01}  // !HAVE_SYS_UIO_H\n#define A ${SNAPPY_MAJOR}\n";
        assert_eq!(public_stubs(cmake), "#if !1  // !HAVE_SYS_UIO_H\n#define A 1\n");
        assert_eq!(public_stubs("#if @ac_cv_have_stdint_h@\n"), "#if 1\n");
        assert_eq!(public_stubs("mail a@b.c, $5"), "mail a@b.c, $5");
    }
}
