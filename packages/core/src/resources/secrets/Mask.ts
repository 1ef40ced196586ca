/**
 * Masks secrets in logs and results.
 *
 * Finds a value as it is, without surrounding white space, as a JSON string, as JSON within JSON, and as `console.log`
 * prints it within objects. It does not find other encodings, which a guest can always use to reveal a secret.
 */
import type { Schema } from "effect"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"

/** Minimum length of masked values. Shorter values are common words and numbers in logs. */
export const maskedLengthMin = 6

/** Text that replaces a secret. */
const mask = "***"

/**
 * Maximum work of one mask: characters of text times forms of values. Beyond it, whole texts are masked. Large enough for
 * ten values in a megabyte of logs, and small enough to limit the CPU time of a run.
 */
const searchMax = 32_000_000

/** Maximum depth of JSON. Deeper values are masked completely. */
const levelsMax = 100

/** A mask for the texts of one run. */
export interface Mask {
  readonly text: (text: string) => string
  readonly json: (json: JsonText) => JsonText
}

/** A form of a secret, and the text that replaces it. */
interface Form {
  readonly text: string
  readonly mask: string
}

/**
 * Returns a function that replaces the values by texts of their own, also where they are encoded for a URL. It returns null
 * once it has done too much work.
 */
export const makeReplacements = (values: ReadonlyMap<string, string>): ((text: string) => string | null) => {
  const inUrls = Array.from(values, ([value, replacement]) => [encodeForUrl(value), replacement] as const)
  const { isWithinLimit, hide } = makeSearch([...inUrls, ...values])
  return (text) => (isWithinLimit(text) ? hide(text) : null)
}

const encodeForUrl = (value: string): string => encodeURIComponent(value.toWellFormed())

const makeSearch = (values: Iterable<readonly [value: string, mask: string]>) => {
  const forms = toForms(values)
  let searched = 0
  return {
    isWithinLimit: (text: string): boolean => {
      searched += text.length * forms.length
      return searched <= searchMax
    },
    hide: (text: string): string => forms.reduce(replaceForm, text)
  }
}

export const makeMask = (values: Iterable<string>): Mask => {
  const { isWithinLimit, hide } = makeSearch(Array.from(values, (value) => [value, mask] as const))

  const hideIn = (value: Schema.Json, levels: number): Schema.Json => {
    if (typeof value === "string") return hide(value)
    if (typeof value === "number") return hide(String(value)) === String(value) ? value : mask
    if (typeof value !== "object" || value === null) return value
    if (levels === 0) return mask
    if (Array.isArray(value)) return value.map((item) => hideIn(item, levels - 1))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [hide(name), hideIn(item, levels - 1)]))
  }

  return {
    text: (text) => (isWithinLimit(text) ? hide(text) : mask),
    json: (json) => toJsonText(isWithinLimit(json) ? hideIn(JSON.parse(json), levelsMax) : mask)
  }
}

/** Returns the forms of all values, the longest first, so that a value within another one does not reveal the rest. */
const toForms = (values: Iterable<readonly [value: string, mask: string]>): ReadonlyArray<Form> => {
  const forms = new Map<string, string>()
  for (const [value, replacement] of values) {
    for (const plain of [value, value.trim()]) {
      if (plain.length < maskedLengthMin) continue
      const json = escaped(plain)
      // As printed within single quotes or backticks.
      const quoted = json.replaceAll('\\"', '"')
      for (const form of [plain, json, escaped(json), quoted, quoted.replaceAll("'", "\\'")])
        forms.set(form, replacement)
    }
  }
  return Array.from(forms, ([text, mask]) => ({ text, mask })).sort((a, b) => b.text.length - a.text.length)
}

/** Returns the text as it appears within the quotes of a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Characters of a form that the engine's search looks for first. */
const probeLength = 8

/**
 * Replaces every occurrence with the Knuth-Morris-Pratt algorithm, in linear time for any text and form. The engine's own
 * search is faster for most inputs, but takes a minute for some.
 */
const replaceForm = (text: string, { text: form, mask: replacement }: Form): string => {
  if (!text.includes(form.slice(0, probeLength))) return text
  const fallback = buildFallback(form)
  const kept: Array<string> = []
  let done = 0
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    matched = extend(form, fallback, matched, text.charCodeAt(at))
    if (matched < form.length) continue
    kept.push(text.slice(done, at + 1 - form.length))
    done = at + 1
    matched = 0
  }
  kept.push(text.slice(done))
  return kept.join(replacement)
}

/** Returns the number of matched characters of `form` after the next character of the text. */
const extend = (form: string, fallback: Int32Array, matched: number, code: number): number => {
  let length = matched
  while (length > 0 && form.charCodeAt(length) !== code) length = fallback[length - 1] ?? 0
  return form.charCodeAt(length) === code ? length + 1 : 0
}

/** Returns for each prefix of `form` the length of its longest proper suffix that is also a prefix. */
const buildFallback = (form: string): Int32Array => {
  const fallback = new Int32Array(form.length)
  for (let at = 1; at < form.length; at++) {
    fallback[at] = extend(form, fallback, fallback[at - 1] ?? 0, form.charCodeAt(at))
  }
  return fallback
}
