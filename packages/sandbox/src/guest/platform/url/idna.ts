/**
 * International domain names: "domain to ASCII" of the URL standard.
 *
 * The mapping of UTS #46 uses the engine's Unicode data (compatibility composition, case, properties) instead of 150 KB
 * of tables. It agrees with the tables for letters of living scripts.
 *
 * The rules against mixed writing directions and some rules about joiners are not implemented. So it accepts a few names
 * that other platforms reject; their resolution fails.
 */
import { decodeLabel, encodeLabel } from "./punycode.ts"

const ignored =
  /[\u00ad\u115f\u1160\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0]|[\u{1bca0}-\u{1bca3}]|[\u034f\u180b-\u180f]|[\u17b4\u17b5]|[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|[\u{1d173}-\u{1d17a}]/gu

/** Forms of the final sigma that map to a sigma at any position; composition would keep them final. */
const sigmas = /[\u03f2\u{1d6d3}\u{1d70d}\u{1d747}\u{1d781}\u{1d7bb}]/gu

/** Unassigned, private, surrogates, controls, formats except the joiners, spaces, and some symbols. */
const disallowed = /(?![\u200c\u200d])[\p{Cn}\p{Co}\p{Cs}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2ff0-\u2fff\u31ef\ufffc\ufffd]/u

// Case folding by upper case and then lower case. Exceptions: these characters stay unchanged, and Cherokee folds to
// upper case.
const kept = /[\u00df\u03c2\u0131\u13a0-\u13f5]/u
const cherokeeLower = /[\u13f8-\u13fd\uab70-\uabbf]/u

const fold = (character: string): string => {
  if (kept.test(character)) {
    return character
  }
  if (cherokeeLower.test(character)) {
    return character.toUpperCase()
  }
  const lower = character.toLowerCase()
  // U+1E9E: its lower case is U+00DF, which stays unchanged.
  return kept.test(lower) ? lower : character.toUpperCase().toLowerCase()
}

const map = (domain: string): string =>
  Array.from(domain.replace(ignored, "").replace(sigmas, "\u03c3").normalize("NFKC"), fold)
    .join("")
    .normalize("NFKC")
    .replace(ignored, "")
    .replace(/\u3002/g, ".")

const virama =
  "\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u0e3a\\u0eba\\u0f84\\u1039\\u103a" +
  "\\u1714\\u1715\\u1734\\u17d2\\u1a60\\u1b44\\u1baa\\u1bab\\u1bf2\\u1bf3\\u2d7f\\ua806\\ua82c\\ua8c4\\ua953\\ua9c0\\uaaf6\\uabed"
const joinerAllowed = new RegExp(
  `(?:[${virama}][\\u200c\\u200d]|\\p{Script=Arabic}\\p{M}*\\u200c\\p{M}*(?=\\p{Script=Arabic}))`,
  "gu"
)

const isValid = (label: string): boolean =>
  !disallowed.test(label) && !/^\p{M}/u.test(label) && !/[\u200c\u200d]/.test(label.replace(joinerAllowed, ""))

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** Validates a label "xn--…": its decoded form must encode to the same label. */
const checkEncoded = (label: string): string | null => {
  const decoded = decodeLabel(label.slice(4))
  if (decoded === null || decoded === "" || isAscii(decoded) || !isValid(decoded) || map(decoded) !== decoded) {
    return null
  }
  return label
}

const toAsciiLabel = (label: string): string | null => {
  if (isAscii(label)) {
    return label.startsWith("xn--") ? checkEncoded(label) : label
  }
  if (!isValid(label) || label.startsWith("xn--")) {
    return null
  }
  const encoded = encodeLabel(label)
  return encoded === null ? null : "xn--" + encoded
}

/** Returns the ASCII form of `domain` for name servers, in lower case; null if it is not a domain. */
export const domainToAscii = (domain: string): string | null => {
  const mapped = isAscii(domain) ? domain.toLowerCase() : map(domain)
  const labels = mapped.split(".").map(toAsciiLabel)
  return labels.includes(null) ? null : labels.join(".")
}
