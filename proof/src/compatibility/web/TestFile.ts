/** A test file of the Web Platform Tests, as one module that runs in any engine. */
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, posix, relative } from "node:path"
import { epilogue, prelude } from "./harness.ts"

/** One test file, or one variant of it. */
export interface TestFile {
  /** Path in the checkout, with the query of the variant. */
  readonly name: string
  /** A module with an async function `main` that returns an `Answer`. */
  readonly module: string
}

const isTest = (name: string): boolean => /\.any\.js$/.test(name) && !/\.(?:sub|h2)\.any\.js$/.test(name)

/** Returns the paths of all test files in a folder of the checkout. Documents, windows and servers are not available. */
export const listTests = (checkout: string, folder: string): ReadonlyArray<string> => {
  const place = join(checkout, folder)
  if (!existsSync(place)) return []
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isTest(entry.name))
    .map((entry) => relative(checkout, join(entry.parentPath, entry.name)))
    .filter((path) => !/\/(?:crashtests|not-restored-reasons|resources)\//.test(path))
    .sort()
}

const readMeta = (text: string, key: string): ReadonlyArray<string> =>
  [...text.matchAll(/^\/\/ META: *(\w+)=(.*)$/gm)].flatMap(([, name, value = ""]) =>
    name === key ? [value.trim()] : []
  )

/** Reads files of a checkout, and hashes their contents in the order of reading. */
export class Checkout {
  readonly folder: string
  readonly #hash = createHash("sha256")
  readonly #texts = new Map<string, string>()

  constructor(folder: string) {
    this.folder = folder
  }

  /** SHA-256 of everything that was read. */
  get hash(): string {
    return this.#hash.copy().digest("hex")
  }

  has(path: string): boolean {
    return existsSync(join(this.folder, path))
  }

  read(path: string): string {
    const known = this.#texts.get(path)
    if (known !== undefined) return known
    const text = readFileSync(join(this.folder, path), "utf8")
    this.#texts.set(path, text)
    this.#hash.update(`${path}\n${text}`)
    return text
  }
}

/** Paths under which a server of the tests publishes other files of the checkout. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["resources/WebIDLParser.js", "resources/webidl2/lib/webidl2.js"]
])

const resolvePath = (from: string, path: string): string => {
  const place = path.startsWith("/") ? path.slice(1) : posix.join(dirname(from), path)
  return aliases.get(place) ?? place
}

/** Returns the files that a test fetches, by the name that it uses. */
const readFetched = (checkout: Checkout, path: string, texts: ReadonlyArray<string>): Record<string, string> => {
  const named = texts.flatMap((text) => [...text.matchAll(/["'`](\/?(?:[\w-]+\/)*[\w-]+\.json)["'`]/g)])
  const found = named.flatMap(([, name = ""]) => {
    const place = resolvePath(path, name)
    return checkout.has(place) ? [[name, checkout.read(place)]] : []
  })
  if (!texts.some((text) => text.includes("idl_test("))) return Object.fromEntries(found)
  const words = texts.flatMap((text) => [...text.matchAll(/["']([\w.-]+)["']/g)].map(([, word = ""]) => word))
  const interfaces = [...new Set(words)]
    .map((word) => `/interfaces/${word}.idl`)
    .filter((name) => checkout.has(name.slice(1)))
    .map((name) => [name, checkout.read(name.slice(1))])
  return Object.fromEntries([...found, ...interfaces])
}

/**
 * Returns code that makes names global which are global in scripts: functions at the top level, and variables that are
 * assigned without a declaration.
 */
const publishNames = (texts: ReadonlyArray<string>): string => {
  const text = texts.join("\n")
  const find = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))]
  const functions = find(/^(?:async )?function\*? ?([\w$]+)/gm)
  const declared = new Set(find(/\b(?:const|let|var|class|function\*?) ([\w$]+)/g))
  const assigned = find(/^ *([A-Za-z_$][\w$]*) = /gm).filter((name) => !declared.has(name))
  return `
    ${functions.map((name) => `if (typeof ${name} === "function") globalThis.${name} = ${name}`).join("\n")}
    for (const name of ${JSON.stringify(assigned)}) if (!(name in globalThis)) globalThis[name] = undefined`
}

/** Returns the variants of a test file as modules; none if the checkout lacks one of its scripts. */
export const readTest = (checkout: Checkout, path: string): ReadonlyArray<TestFile> => {
  const text = checkout.read(path)
  const scripts = readMeta(text, "script").map((name) => resolvePath(path, name))
  if (!scripts.every((name) => checkout.has(name))) return []
  // The program of the test harness is large: it is left to these files only.
  const own = [...scripts.filter((name) => !name.startsWith("resources/")), path].map((name) => checkout.read(name))
  const files = readFetched(checkout, path, own)
  const variants = readMeta(text, "variant").filter((variant) => variant.startsWith("?"))
  return (variants.length === 0 ? [""] : variants).map((variant) => ({
    name: `${path}${variant}`,
    module: [
      prelude({ files, path, variant, title: readMeta(text, "title")[0] ?? path }),
      checkout.read("resources/testharness.js"),
      publishNames([...scripts.filter((name) => !name.includes("/webidl2/")).map((name) => checkout.read(name)), text]),
      ...scripts.map((name) => checkout.read(name)),
      text,
      epilogue
    ].join("\n;\n")
  }))
}
