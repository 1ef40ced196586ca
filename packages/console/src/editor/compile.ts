/** Turns the source into a build in the browser: TypeScript becomes JavaScript, line by line, in a zip. */
import { javascriptLanguage } from "@codemirror/lang-javascript"
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate"
import { transform } from "sucrase"
import { functionsOf } from "./functionsOf.ts"
import { testKey, testNamespace } from "./testEntry.ts"

/** Names of the files in a build that the editor made: its code, and the source that the editor opens again. */
const codeFile = "index.js"
const sourceFile = "index.ts"

/** Thrown for a source that imports a package. */
export class ImportError extends Error {
  readonly from: string
  constructor(from: string) {
    super(`The source imports ${from}`)
    this.from = from
  }
}

/** Returns the first module that the code imports. */
const findImport = (code: string): string | undefined => {
  const { topNode } = javascriptLanguage.parser.parse(code)
  const statements = [...topNode.getChildren("ImportDeclaration"), ...topNode.getChildren("ExportDeclaration")]
  const name = statements.map((statement) => statement.getChild("String")).find((found) => found !== null)
  return name ? code.slice(name.from + 1, name.to - 1) : undefined
}

/** Earliest time that a zip can contain, so that equal sources give equal builds. */
const mtime = new Date(1980, 0, 1)

/** Returns the zip of the source. Throws a `SyntaxError` with the line, or an `ImportError`. */
export const compile = (source: string): Uint8Array => pack(source, toCode(source))

/** As `compile`, with an entry for each function that passes `svc` to it, as its trigger would. */
export const compileTest = (source: string): Uint8Array =>
  pack(source, `${toCode(source)}\n${entries(functionsOf(source))}`)

const toCode = (source: string): string => {
  const { code } = transform(source, { transforms: ["typescript"], disableESTransforms: true, filePath: sourceFile })
  const imported = findImport(code)
  if (imported !== undefined) throw new ImportError(imported)
  return code
}

const pack = (source: string, code: string): Uint8Array =>
  zipSync({ [codeFile]: strToU8(code), [sourceFile]: strToU8(source) }, { mtime })

const isSimple = (fn: string): boolean => /^[\w$]+\/[\w$]+$/.test(fn)

/**
 * Returns code of the entries. A run by hand passes only arguments, but functions of triggers expect `svc` as their second
 * parameter. It is also a global. Entries have no triggers.
 */
const entries = (functions: ReadonlyArray<string>): string => {
  const members = functions.filter(isSimple).map((fn) => {
    const [ns = "", name = ""] = fn.split("/")
    const reference = ns === "main" ? `typeof ${name} === "undefined" ? main.${name} : ${name}` : `${ns}.${name}`
    return `${testKey(fn)}: weftEntry(${reference})`
  })
  return `const weftEntry = (fn) => {
  const { durable, timeout, retry } = fn?.meta ?? {}
  const terms = Object.entries({ durable, timeout, retry }).filter(([, value]) => value !== undefined)
  return Object.assign((argument) => fn(argument, svc), { meta: Object.fromEntries(terms) })
}
export const ${testNamespace} = { ${members.join(", ")} }
`
}

/** Returns the source in a build. Null if it has other files, as builds of the command line have. */
export const readSource = (zip: Uint8Array): string | null => {
  const files = unzipSync(zip)
  const names = Object.keys(files)
  const source = files[sourceFile] ?? files[codeFile]
  const isOwn = names.every((name) => name === codeFile || name === sourceFile)
  return isOwn && source !== undefined ? strFromU8(source) : null
}
