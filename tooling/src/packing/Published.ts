/** Derives the published manifest of a package: without the fields that only the repository needs. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Result, Schema } from "effect"

const Versions = Schema.Record(Schema.String, Schema.String)

const shared = {
  name: Schema.NonEmptyString,
  version: Schema.NonEmptyString,
  description: Schema.NonEmptyString,
  keywords: Schema.NonEmptyArray(Schema.NonEmptyString),
  license: Schema.Literal("Apache-2.0"),
  type: Schema.Literal("module"),
  sideEffects: Schema.Union([Schema.Boolean, Schema.Array(Schema.String)]),
  engines: Schema.Struct({ node: Schema.NonEmptyString }),
  files: Schema.Array(Schema.String),
  bin: Schema.optionalKey(Versions),
  dependencies: Schema.optionalKey(Versions),
  peerDependencies: Schema.optionalKey(Versions),
  peerDependenciesMeta: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ optional: Schema.Literal(true) }))
  )
}

/** Schema of a manifest in the repository. Unknown fields are errors. */
const Own = Schema.Struct({
  ...shared,
  exports: Schema.Record(
    Schema.String,
    Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.NullOr(Schema.String))])
  ),
  scripts: Schema.optionalKey(Versions),
  devDependencies: Schema.optionalKey(Versions)
})

/** Schema of an export. `types` is first, because resolution takes the first condition that matches. */
const Entry = Schema.Union([
  Schema.Struct({ types: Schema.String, default: Schema.String }),
  // Closed to everybody outside the repository: not at all, and without types.
  Schema.Struct({ default: Schema.Null }),
  Schema.Struct({ types: Schema.Null, default: Schema.String }),
  Schema.Literal("./package.json")
])

const Published = Schema.Struct({ ...shared, exports: Schema.Record(Schema.String, Entry) })
export type Published = typeof Published.Type

const exact = { onExcessProperty: "error" } as const

const decodeOwn = Schema.decodeUnknownResult(Schema.fromJsonString(Own), exact)
const decodePublished = Schema.decodeUnknownResult(Published, exact)

/** Throws if a required field is missing or a field is unknown. */
export const publishedManifest = (folder: string): Published => {
  const file = join(folder, "package.json")
  const orThrow = <A>(decoded: Result.Result<A, Schema.SchemaError>): A =>
    Result.getOrThrowWith(decoded, ({ message }) => new Error(`${file}: ${message}`))
  const own = orThrow(decodeOwn(readFileSync(file, "utf8")))
  const { scripts: _, devDependencies: __, exports, sideEffects, ...manifest } = own
  return orThrow(
    decodePublished({
      ...manifest,
      sideEffects: typeof sideEffects === "boolean" ? sideEffects : sideEffects.filter(isBuilt),
      exports: Object.fromEntries(
        Object.entries(exports).map(([name, entry]) => [
          name,
          typeof entry === "string" ? entry : withoutSources(entry)
        ])
      )
    })
  )
}

const isBuilt = (path: string): boolean => !path.startsWith("./src/")

type Conditions = Readonly<Record<string, string | null>>

const withoutSources = (entry: Conditions): Conditions =>
  Object.fromEntries(Object.entries(entry).filter(([, path]) => path === null || isBuilt(path)))
