/** Nearly valid bodies: mutated examples of the document, as a tree and as text. */
import fc from "fast-check"

/** Contained in every generated value. No response to a rejected request may quote it. */
export const marker = "hush7f3a"

/** Text that JSON.stringify cannot produce. Inserted afterwards. */
const raw = (text: string): string => `@raw(${text})@`
const nested = (levels: number): string => `@nested(${levels})@`

const withRawText = (json: string): string =>
  json
    .replace(/"@raw\((.*?)\)@"/g, (_, text: string) => text)
    .replace(/"@nested\((\d+)\)@"/g, (_, levels: string) => "[".repeat(Number(levels)) + "]".repeat(Number(levels)))

const oddText = fc.constantFrom(
  "",
  " ",
  marker,
  `${marker}\u0000`,
  `\ud800${marker}`,
  `${marker}\u202e\ufeff`,
  "é".normalize("NFD"),
  "../../etc/passwd",
  "' OR 1=1 --",
  "__proto__",
  "{{7*7}}",
  "x".repeat(5000),
  "🧵".repeat(300),
  "01890000-0000-7000-8000-000000000000",
  "2026-13-45T99:99:99Z",
  "-1",
  "*"
)

const oddNumber = fc.constantFrom(
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e21,
  raw("1e400"),
  raw("-0"),
  raw("123456789012345678901234567890"),
  raw("1E-400")
)

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  oddText,
  oddNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { "": "" }, [null], nested(600), nested(20_000)),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.jsonValue({ maxDepth: 3 })
)

const oddKey = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "", "a.b", "$ref", "then"),
  fc.string({ maxLength: 10 })
)

type Mutation =
  | { readonly kind: "replace"; readonly at: number; readonly value: unknown }
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "add"; readonly at: number; readonly key: string; readonly value: unknown }

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant("replace" as const), at: fc.nat(30), value: oddValue }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat(30) }),
  fc.record({ kind: fc.constant("add" as const), at: fc.nat(30), key: oddKey, value: oddValue })
)

type Container = Record<string, unknown> | Array<unknown>

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null

/** Every container of a tree with each of its keys. */
const placesOf = (root: Container): ReadonlyArray<readonly [Container, string]> =>
  Object.keys(root).flatMap((key) => {
    const inner: unknown = Reflect.get(root, key)
    return [[root, key] as const, ...(isContainer(inner) ? placesOf(inner) : [])]
  })

const mutate = (root: { value: unknown }, change: Mutation): void => {
  const places = placesOf(root)
  const place = places[change.at % Math.max(1, places.length)]
  if (place === undefined) return
  const [holder, key] = place
  if (change.kind === "replace") Reflect.set(holder, key, change.value)
  if (change.kind === "remove") Reflect.deleteProperty(holder, key)
  if (change.kind !== "add") return
  const inner: unknown = Reflect.get(holder, key)
  // Defined instead of assigned, so that `__proto__` becomes a normal field.
  Object.defineProperty(isContainer(inner) ? inner : holder, change.key, {
    value: change.value,
    enumerable: true,
    configurable: true,
    writable: true
  })
}

type Garbling = (text: string) => Uint8Array

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const garbling: fc.Arbitrary<Garbling> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Garbling>(utf8) },
  fc.nat(200).map(
    (cut): Garbling =>
      (text) =>
        utf8(text.slice(0, cut % (text.length + 1)))
  ),
  fc.constant<Garbling>(() => new Uint8Array(0)),
  fc.constant<Garbling>((text) => utf8(`\ufeff${text}`)),
  fc.constant<Garbling>((text) => utf8(`${text}${text}`)),
  fc.constant<Garbling>((text) => utf8(` \t\r\n${text}\n\n`)),
  fc.constant<Garbling>((text) => utf8(text.replace(/^\{/, `{"name":"${marker}","name":1,`))),
  fc.constant<Garbling>((text) => utf8(text.replaceAll('"', "'"))),
  fc.constant<Garbling>((text) => new Uint8Array([...utf8(text), 0xff, 0xfe, 0x00])),
  fc.constant<Garbling>((text) => new Uint8Array(Buffer.from(text, "utf16le"))),
  fc.constant<Garbling>((text) => utf8(`${text.slice(0, -1)},"pad":"${"x".repeat(70_000)}"}`)),
  fc.uint8Array({ maxLength: 200 }).map(
    (bytes): Garbling =>
      () =>
        bytes
  )
)

/** Generates the bytes of a JSON body from the example. */
export const jsonBody = (example: unknown): fc.Arbitrary<Uint8Array> =>
  fc.record({ changes: fc.array(mutation, { maxLength: 3 }), garble: garbling }).map(({ changes, garble }) => {
    const root = { value: structuredClone(example) }
    // Copied, because mutations would otherwise affect later requests.
    for (const change of changes) mutate(root, structuredClone(change))
    return garble(withRawText(JSON.stringify(root.value) ?? ""))
  })

export const boundary = "fuzz-boundary"

const part = fc.record({
  name: fc.constantFrom("file", "hash", "build_id", "build_type", "__proto__", ""),
  filename: fc.constantFrom("", '; filename="a.zip"', '; filename="../a"', "; filename*=UTF-8''%e2%82%ac"),
  value: fc.oneof(fc.constantFrom("other", "0".repeat(64), "bundle", "live", "x".repeat(5000)), oddText),
  ending: fc.constantFrom("\r\n", "\r\n", "\r\n", "\n", "")
})

/** Generates the bytes of a form with valid, invalid, missing or repeated fields. */
export const formBody: fc.Arbitrary<Uint8Array> = fc
  .record({ parts: fc.array(part, { maxLength: 5 }), end: fc.constantFrom(`--${boundary}--\r\n`, "", `--${boundary}`) })
  .map(({ parts, end }) =>
    utf8(
      parts
        .map(({ name, filename, value, ending }) => {
          const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename}`
          return `${head}\r\n\r\n${value}${ending}`
        })
        .join("") + end
    )
  )
