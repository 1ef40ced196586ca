/** The code around a test file: it provides the files that tests fetch, and collects the results of the harness. */
import { Schema } from "effect"

/** Results of a test file. */
export const Answer = Schema.Struct({
  passed: Schema.Int,
  /** Name and message of each failed test; only the first ones of a large file. */
  failed: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  total: Schema.Int
})
export type Answer = typeof Answer.Type

/** Maximum time of a test file, in milliseconds. */
export const fileMs = 10_000

/** Maximum failed tests that a file lists. */
const listedMax = 400

interface Given {
  /** Contents by the name with which the test fetches them. */
  readonly files: Readonly<Record<string, string>>
  readonly path: string
  /** Query of the variant. */
  readonly variant: string
  readonly title: string
}

/**
 * Returns the start of the module. The whole test is the body of one function, because timers need a run. `Window` makes
 * the harness of interfaces check the members that are exposed to windows; no test file reads it as a window.
 */
export const prelude = ({ files, path, variant, title }: Given): string => `
const files = ${JSON.stringify(files)}
const isIdl = ${/idlharness/.test(path)}
const url = new URL(${JSON.stringify(`https://web-platform.test/${path}${variant}`)})
globalThis.self ??= globalThis
globalThis.GLOBAL = { isWindow: () => false, isWorker: () => false, isShadowRealm: () => false }
globalThis.location = Object.assign(Object.create(null), {
  href: url.href, search: url.search, pathname: url.pathname, origin: url.origin, protocol: url.protocol, host: url.host,
  hostname: url.hostname, port: url.port, hash: url.hash, toString: () => url.href
})
globalThis.META_TITLE = ${JSON.stringify(title)}
if (isIdl) {
  globalThis.Window = class Window { static [Symbol.hasInstance](value) { return value === globalThis } }
}
if (Object.keys(files).length > 0) {
  const send = globalThis.fetch
  globalThis.fetch = (input, init) =>
    Object.hasOwn(files, String(input)) ? Promise.resolve(new Response(files[input])) : send(input, init)
}
const startTimer = globalThis.setTimeout
const describe = (error) => String(error?.stack ?? error).slice(0, 300)
const summarize = (tests, status) => {
  const bad = tests.filter((test) => test.status !== 0)
  const failed = bad.slice(0, ${listedMax}).map((test) => [test.name.slice(0, 200), String(test.message).slice(0, 200)])
  if (status.status === 1) failed.push(["the file", String(status.message).slice(0, 300)])
  return { passed: tests.length - bad.length, failed, total: tests.length }
}
export const main = () => new Promise((finish) => {
  startTimer(() => globalThis.timeout?.(), ${fileMs - 3000})
  startTimer(() => finish({ passed: 0, failed: [["the file", "did not end"]], total: 0 }), ${fileMs - 1500})
  try {
`

export const epilogue = `
    add_completion_callback((tests, status) => finish(summarize(tests, status)))
  } catch (error) {
    const reason = describe(error)
    if (typeof add_completion_callback !== "function") finish({ passed: 0, failed: [["the file", reason]], total: 0 })
    else add_completion_callback((tests, status) => {
      const answer = summarize(tests, status)
      finish({ ...answer, failed: [...answer.failed, ["the file", reason]] })
    })
  }
})
`
