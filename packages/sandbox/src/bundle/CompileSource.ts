/** Compiles source text: an expression, the body of an async function, or a module. */
import { BundleRejected, type SandboxUnavailable } from "@weft/core/adapter"
import { Effect } from "effect"
import { compileModule, compileModules, type Modules, type ModuleText } from "./Compile.ts"
import { sourceFile } from "./SourceText.ts"

/** Path under which a source imports the build of its context. */
export const buildPath = "weft:build"
const entryPath = "weft:entry"

type Form = "expression" | "body" | "module"

/** Words that begin a statement, of which none is an expression that a caller wants the value of. */
const statement =
  /^\s*(?:const|let|var|if|for|while|do|switch|try|throw|return|function|class|async\s+function|type|interface|enum|declare)\b/
const moduleSyntax = /^\s*(?:export|import)\b(?!\s*[(.])/m

/** Returns the forms that a source may have, most likely first. */
const listForms = (text: string): readonly [Form, Form, Form] => {
  if (moduleSyntax.test(text)) return ["module", "body", "expression"]
  return statement.test(text) ? ["body", "expression", "module"] : ["expression", "body", "module"]
}

/** Wraps the text. All forms add one line before it; see `originalLine`. */
const wrap = (text: string, form: Form, hasBuild: boolean): string => {
  const imported = hasBuild ? `import * as build from "${buildPath}";` : ""
  switch (form) {
    case "expression":
      return `${imported}export default async function evaluate(...args) { return (\n${text}\n) }`
    case "body":
      return `${imported}export default async function evaluate(...args) {\n${text}\n}`
    case "module":
      return `\n${text}`
  }
}

const toModules = (text: string, form: Form, build: ModuleText | null): Modules => {
  const exported = build === null ? "" : `export * from "${buildPath}";`
  const files = new Map<string, ModuleText>([
    [entryPath, { contents: `${exported}export { default } from "${sourceFile}"`, loader: "js" }],
    [sourceFile, { contents: wrap(text, form, build !== null), loader: "ts" }]
  ])
  if (build !== null) files.set(buildPath, build)
  return { entry: entryPath, files }
}

/** Maximum nesting of brackets in a source. The compiler overflows its stack, and its memory first, at some thousands. */
export const nestingMax = 1000

/**
 * Compiles a source. `build` is the module that it can import as `weft:build`, and whose functions its run can invoke.
 * Fails with `BundleRejected` if the text has none of the forms.
 */
export const compileSource = Effect.fnUntraced(function* (text: string, build: ModuleText | null, compileMs: number) {
  if (isNestedDeeper(text, nestingMax))
    return yield* new BundleRejected({ reason: `${sourceFile}: brackets are nested deeper than ${nestingMax} levels` })
  const forms = listForms(text)
  const failures = new Map<Form, BundleRejected>()
  for (const form of forms) {
    const compiled = yield* attempt(
      form === "module" || build !== null
        ? compileModules(toModules(text, form, build), compileMs)
        : compileModule({ contents: wrap(text, form, false), loader: "ts" }, sourceFile, compileMs)
    )
    if (!(compiled instanceof BundleRejected)) return compiled
    // A text that the compiler cannot handle would end it once more in each form.
    if (!isSyntaxError(compiled)) return yield* compiled
    failures.set(form, compiled)
  }
  // The error of a text that is no valid expression names a closing bracket that the author did not write.
  const reported = forms[0] === "expression" ? "body" : forms[0]
  return yield* describe(failures.get(reported), text)
})

/** Returns the rejection of a text as a value, so that another form of it can follow. */
export const attempt = <A>(compiling: Effect.Effect<A, BundleRejected | SandboxUnavailable>) =>
  Effect.catchTag(compiling, "BundleRejected", (rejected) => Effect.succeed(rejected))

/** True for an error with a position in the source or in its modules. */
export const isSyntaxError = ({ reason }: BundleRejected): boolean => /:\d+:\d+ /.test(reason)

/** True if more brackets are open at once, also in strings and comments. */
export const isNestedDeeper = (text: string, levels: number): boolean => {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (unit === "(" || unit === "[" || unit === "{") {
      if (++depth > levels) return true
    } else if (unit === ")" || unit === "]" || unit === "}") depth--
  }
  return false
}

const describe = (rejected: BundleRejected | undefined, text: string): BundleRejected => {
  if (rejected === undefined || /No matching export/.test(rejected.reason))
    return new BundleRejected({ reason: `${sourceFile}: a module must export a function as its default` })
  const lines = text.split("\n")
  const line = Number(/^eval\.ts:(\d+):/.exec(rejected.reason)?.[1] ?? 0)
  // The error is at the bracket after the author's text.
  return line > lines.length
    ? new BundleRejected({
        reason: `${sourceFile}:${lines.length}:${(lines.at(-1)?.length ?? 0) + 1} Unexpected end of the source`
      })
    : rejected
}
