//! Putting texts together: concatenation, repetition, `join`, comparison by order.

use crate::cx::{Cx, KernelResult};
use crate::list::StrList;
use crate::op;
use crate::text::Str;

op! {
    /// The two strings, one after the other.
    ///
    /// >>> "ab" + "cd"
    /// 'abcd'
    str_concat = "str.concat" "a+b"
    Pure fn (cx, _a: str, _b: str) -> str fallible {
        if _b.byte_len() == 0 {
            return Ok(_a);
        }
        if _a.byte_len() == 0 {
            return Ok(_b);
        }
        cx.append(_a, _b)
    }
}

op! {
    /// The string several times; not at all for a count below one.
    ///
    /// >>> "ab" * 3
    /// 'ababab'
    str_repeat = "str.repeat" "a*b"
    Pure fn (cx, _s: str, _count: repeat) -> str fallible [OverflowError] { repeat(cx, _s, _count) }
}

op! {
    /// The string several times; not at all for a count below one.
    ///
    /// >>> 3 * "ab"
    /// 'ababab'
    str_repeated = "str.repeated" "a*b"
    Pure fn (cx, _count: repeat, _s: str) -> str fallible [OverflowError] { repeat(cx, _s, _count) }
}

fn repeat<'a>(cx: &mut Cx, s: Str<'a>, count: i64) -> KernelResult<Str<'a>> {
    if count <= 0 || s.byte_len() == 0 {
        return Ok(Str::with_ascii("", true));
    }
    if count == 1 {
        return Ok(s);
    }
    let mut out = cx.text(0)?;
    out.push_repeated(s.as_str(), count as usize)?;
    Ok(out.finish_as(s.known_ascii()))
}

op! {
    /// The strings of a list with the string between them.
    ///
    /// >>> ", ".join(["a", "b", "c"])
    /// 'a, b, c'
    str_join = "str.join" ".join"
    Read fn (cx, _s: str, _items: strs) -> str fallible { join(cx, _s, _items) }
}

fn join<'a>(cx: &mut Cx, s: Str<'a>, items: StrList<'a>) -> KernelResult<Str<'a>> {
    let [first, rest @ ..] = items.items() else { return Ok(Str::with_ascii("", true)) };
    if rest.is_empty() {
        return Ok(*first);
    }
    let total = items.items().iter().map(|item| item.byte_len()).sum::<usize>() + s.byte_len() * rest.len();
    let mut ascii = s.known_ascii() && first.known_ascii();
    let mut out = cx.text(total)?;
    let mut spare = &mut out.spare(total)?[..total];
    let mut add = |text: &[u8]| {
        let (here, behind) = std::mem::take(&mut spare).split_at_mut(text.len());
        match (here, text) {
            // A call to copy one byte costs more than the byte.
            ([here], [byte]) => *here = *byte,
            (here, text) => here.copy_from_slice(text),
        }
        spare = behind;
    };
    add(first.as_bytes());
    for item in rest {
        if s.byte_len() > 0 {
            add(s.as_bytes());
        }
        add(item.as_bytes());
        ascii &= item.known_ascii();
    }
    // SAFETY: texts stand one behind the other in all of it.
    unsafe { out.advance(total) };
    Ok(out.finish_as(ascii))
}

macro_rules! order {
    ($($doc:literal $id:ident $name:literal $spelling:literal $op:tt),*) => {
        $(op! {
            #[doc = $doc]
            ///
            /// Strings are ordered by code points, which is the order of their UTF-8.
            $id = $name $spelling
            Pure fn (cx, _a: str, _b: str) -> bool { _a.as_bytes() $op _b.as_bytes() }
        })*
    };
}

order! {
    " >>> \"abc\" < \"abd\"\n True\n" str_lt "str.lt" "a<b" <,
    " >>> \"abc\" <= \"ab\"\n False\n" str_le "str.le" "a<=b" <=,
    " >>> \"é\" > \"z\"\n True\n" str_gt "str.gt" "a>b" >,
    " >>> \"\" >= \"\"\n True\n" str_ge "str.ge" "a>=b" >=
}
