/**
 * Hiding secrets in text that others may read.
 *
 * A value is found as it is, without the white space around it, as JSON writes it, also within JSON within JSON, and
 * as `console.log` writes it within objects.
 * What a guest encodes otherwise it means to show, and nothing can keep it from that.
 */

import type { Schema } from "effect"
import { type JsonText, toJsonText } from "../ids/JsonText.ts"

/** Shorter values are left as they are: they are words and numbers that logs are full of. */
export const maskedLengthMin = 6

/** What stands in the place of a secret. */
export const mask = "***"

/**
 * How much one mask searches: characters of text, times forms of values. Beyond, it hides texts whole. Large enough
 * for ten values in a megabyte of logs, small enough that nobody keeps a processor busy with it.
 */
const searchMax = 32_000_000

/** Deeper levels of JSON are hidden whole. */
const levelsMax = 100

/** For the texts of one run. */
export interface Mask {
  readonly text: (text: string) => string
  readonly json: (json: JsonText) => JsonText
}

export const makeMask = (values: Iterable<string>): Mask => {
  const forms = formsOf(values)
  let searched = 0

  const affords = (text: string): boolean => {
    searched += text.length * forms.length
    return searched <= searchMax
  }
  const hide = (text: string): string => forms.reduce(replaceForm, text)

  const hideIn = (value: Schema.Json, levels: number): Schema.Json => {
    if (typeof value === "string") return hide(value)
    if (typeof value === "number") return hide(String(value)) === String(value) ? value : mask
    if (typeof value !== "object" || value === null) return value
    if (levels === 0) return mask
    if (Array.isArray(value)) return value.map((item) => hideIn(item, levels - 1))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [hide(name), hideIn(item, levels - 1)]))
  }

  return {
    text: (text) => (affords(text) ? hide(text) : mask),
    json: (json) => toJsonText(affords(json) ? hideIn(JSON.parse(json), levelsMax) : mask)
  }
}

/** The longest first, so that a value within another does not leave half of it standing. */
const formsOf = (values: Iterable<string>): ReadonlyArray<string> => {
  const forms = new Set<string>()
  for (const value of values) {
    for (const plain of [value, value.trim()]) {
      if (plain.length < maskedLengthMin) continue
      const json = escaped(plain)
      // Within quotes of another kind.
      const quoted = json.replaceAll('\\"', '"')
      for (const form of [plain, json, escaped(json), quoted, quoted.replaceAll("'", "\\'")]) forms.add(form)
    }
  }
  return [...forms].sort((a, b) => b.length - a.length)
}

/** As within the quotes of a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** What the engine looks for first. */
const probeLength = 8

/**
 * Replaces every occurrence, by Knuth, Morris and Pratt: in time linear to the text, whatever text and form are. The
 * engine's own search is faster for most, and takes a minute for some.
 */
const replaceForm = (text: string, form: string): string => {
  if (!text.includes(form.slice(0, probeLength))) return text
  const fallback = fallbackOf(form)
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
  return kept.join(mask)
}

/** How many characters of `form` match after one more of the text, when `matched` did before. */
const extend = (form: string, fallback: Int32Array, matched: number, code: number): number => {
  let length = matched
  while (length > 0 && form.charCodeAt(length) !== code) length = fallback[length - 1] ?? 0
  return form.charCodeAt(length) === code ? length + 1 : 0
}

/** For each prefix of `form`: the length of the longest shorter one that it ends with. */
const fallbackOf = (form: string): Int32Array => {
  const fallback = new Int32Array(form.length)
  for (let at = 1; at < form.length; at++) {
    fallback[at] = extend(form, fallback, fallback[at - 1] ?? 0, form.charCodeAt(at))
  }
  return fallback
}
