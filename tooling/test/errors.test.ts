/** `docs/errors.md` lists exactly the errors in the sources. */
import { describe, expect, it } from "vitest"
import { filesBelow, namesIn, sentencesIn, textOf } from "./errors/Sources.ts"

const page = textOf("docs/errors.md")

/** Returns the code spans in the first column of a table. */
const listed = (table: string): ReadonlyArray<string> => {
  const [, rows = ""] = new RegExp(`<!-- ${table} -->\n([\\s\\S]*?)<!-- /${table} -->`).exec(page) ?? []
  return rows.split("\n").flatMap((row) => {
    const [, cell = ""] = /^\| (.*?) \|(?= |$)/.exec(row) ?? []
    return [...cell.matchAll(/``(.+?)``|`(.+?)`/g)].map(([, double, single = ""]) => double ?? single)
  })
}

const expectSame = (listed: Iterable<string>, actual: Iterable<string>, excluded: ReadonlyArray<string> = []) =>
  expect([...listed].sort()).toEqual([...new Set(actual)].filter((one) => !excluded.includes(one)).sort())

const adapters = ["adapters/filesystem/src", "adapters/postgres/src", "adapters/s3/src", "adapters/sqlite/src"]
const libraries = filesBelow(
  "packages/core/src",
  "packages/sql/src",
  "packages/sandbox/src",
  "packages/sdk/src",
  ...adapters
)

describe("docs/errors.md has", () => {
  it("the codes of the API", () => {
    const codes = [...page.matchAll(/^### `(\w+)`\n\n\*\*(\d+)/gm)].map(
      ([, code = "", status = ""]) => `${code}: ${status}`
    )
    const catalogue = textOf("packages/api/src/errors/Catalogue.ts")
    expectSame(
      codes,
      [...catalogue.matchAll(/^ {2}(\w+: \d+),?$/gm)].map(([, row = ""]) => row)
    )
  })

  it("the names of failed runs", () => {
    const outcomes = namesIn(["packages/core/src/platform/sandbox/Outcome.ts"], /^ {2}([A-Z]\w+): \{/gm)
    const others = namesIn(
      libraries,
      /loseRun\(\w+, "(\w+)"/g,
      /_tag: "Threw",\s+name: "(\w+)"/g,
      /name: "(\w+)" as const/g,
      /namedError\("(InvalidResponse|FunctionNotFound|NonDeterminism|Stalled)"/g
    )
    expectSame(listed("run names"), [...outcomes, ...others], ["Returned", "Responded", "Threw", "Error"])
  })

  it("the names of what functions can catch", () => {
    const names = namesIn(
      filesBelow("packages/core/src/runtime/svc", "packages/sandbox/src/guest"),
      /HostCallRefused\(\{ name: "(\w+)"/g,
      /new FailedHostCall\("\w+", "(\w+)"/g,
      /namedError\("(?!BadMeta|FunctionNotFound|InvalidResponse|NonDeterminism|Stalled)(\w+)"/g
    )
    // Errors of core services are thrown under their tags.
    const tags = ["ContentDamaged", "PlanRequired", "SecretUnreadable", "StoreUnavailable"]
    expect([...namesIn(libraries, /Schema\.TaggedError<(\w+)>/g)]).toEqual(expect.arrayContaining(tags))
    expectSame(listed("svc names"), [...names, ...tags])
  })

  it("the refusals of builds", () => {
    const bundle = ["Archive", "Compile", "Exports", "Preparation"].map(
      (name) => `packages/sandbox/src/bundle/${name}.ts`
    )
    const builds = [
      ...["Meta", "MetaFields", "Triggers", "OnFailure", "McpTriggers", "Upload", "EndpointConflict"].map(
        (name) => `resources/builds/${name}.ts`
      ),
      "foundation/time/Cron.ts"
    ].map((path) => `packages/core/src/${path}`)
    const messages = sentencesIn([...builds, ...bundle, "packages/sandbox/src/guest/kernel/Exports.ts"])
    expectSame(listed("build messages"), messages, [
      // Messages of logs and of failed runs, and generated code.
      "The bytes of build … could not be removed; the janitor will remove them",
      "the compiler: …",
      "zip of build …",
      '__weft_load(()=>{"use strict";',
      "return __weft_bundle})",
      "…\n//# sourceMappingURL=data:application/json;base64,…\n",
      "the bundle is loaded",
      "the preparation was interrupted",
      "it did not start",
      "a runner process …",
      "the build exports no function …",
      "…/…: …"
    ])
  })

  it("the refusals of settings", () => {
    const server = ["Settings", "BackendSettings", "DomainSettings", "McpSettings", "Lists", "SettingErrors"].map(
      (name) => `examples/standalone/src/${name}.ts`
    )
    const messages = sentencesIn([...server, "adapters/s3/src/StorageUrl.ts"])
    expectSame(listed("setting messages"), messages, ["… …", "S3 secret key"])
  })

  it("the codes of the command line", () => {
    const codes = namesIn(filesBelow("packages/cli/src"), /failure\(\s*"(\w+)"/g, /^ +code: "(\w+)",$/gm)
    const ofTheApi = namesIn(["packages/api/src/errors/Catalogue.ts"], /^ {2}(\w+): \d+,?$/gm)
    // The client uses this code for responses that Weft did not send.
    expectSame(listed("command line codes"), [...codes, "unrecognized"], [...ofTheApi])
  })

  it("the tags of errors", () => {
    const tags = namesIn(libraries, /Schema\.TaggedError<(\w+)>/g)
    const shown = new Set([...listed("tags"), ...listed("inner tags")])
    expectSame(shown, tags)
  })
})
