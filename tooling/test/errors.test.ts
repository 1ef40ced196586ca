/** `docs/errors.md` has every error that there is, and none that is not. */
import { describe, expect, it } from "vitest"
import { filesBelow, namesIn, sentencesIn, textOf } from "./errors/Sources.ts"

const page = textOf("docs/errors.md")

/** What stands in backticks in the first cells of the table of that name. */
const listed = (table: string): ReadonlyArray<string> => {
  const [, rows = ""] = new RegExp(`<!-- ${table} -->\n([\\s\\S]*?)<!-- /${table} -->`).exec(page) ?? []
  return rows.split("\n").flatMap((row) => {
    const [, cell = ""] = /^\| (.*?) \|(?= |$)/.exec(row) ?? []
    return [...cell.matchAll(/``(.+?)``|`(.+?)`/g)].map(([, double, single = ""]) => double ?? single)
  })
}

const expectSame = (shown: Iterable<string>, there: Iterable<string>, besides: ReadonlyArray<string> = []) =>
  expect([...shown].sort()).toEqual([...new Set(there)].filter((one) => !besides.includes(one)).sort())

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
    const outcomes = namesIn(["packages/core/src/sandbox/Outcome.ts"], /^ {2}([A-Z]\w+): \{/gm)
    const others = namesIn(
      libraries,
      /loseRun\(\w+, "(\w+)"/g,
      /_tag: "Threw", name: "(\w+)"/g,
      /name: "(\w+)" as const/g,
      /namedError\("(InvalidResponse|FunctionNotFound)"/g
    )
    expectSame(listed("run names"), [...outcomes, ...others], ["Returned", "Responded", "Threw", "Error"])
  })

  it("the names of what functions can catch", () => {
    const names = namesIn(
      filesBelow("packages/core/src/hostcalls", "packages/core/src/hosting", "packages/sandbox/src/guest"),
      /HostCallRefused\(\{ name: "(\w+)"/g,
      /refusal\("(\w+)"/g,
      /new Unanswered\("\w+", "(\w+)"/g,
      /namedError\("(?!BadMeta|FunctionNotFound|InvalidResponse)(\w+)"/g
    )
    // Those that core's services fail with go by their tags.
    const tags = ["PlanRequired", "SecretUnreadable", "StoreUnavailable"]
    expect([...namesIn(libraries, /Schema\.TaggedError<(\w+)>/g)]).toEqual(expect.arrayContaining(tags))
    expectSame(listed("svc names"), [...names, ...tags])
  })

  it("the refusals of builds", () => {
    const bundle = ["Archive", "Compile", "Exports", "Preparation"].map(
      (name) => `packages/sandbox/src/bundle/${name}.ts`
    )
    const builds = ["Meta", "MetaFields", "Triggers", "Cron", "Upload", "Deploy"].map(
      (name) => `packages/core/src/builds/${name}.ts`
    )
    const messages = sentencesIn([...builds, ...bundle, "packages/sandbox/src/guest/kernel/Exports.ts"])
    expectSame(listed("build messages"), messages, [
      // Of logs, of code that is made, and of runs.
      "The bytes of build … are left to the janitor",
      "the compiler: …",
      "zip of build …",
      '__weft_load(()=>{"use strict";',
      "return __weft_bundle})",
      "…\n//# sourceMappingURL=data:application/json;base64,…\n",
      "the bundle is loaded",
      "nobody waits for the bundle",
      "it did not start",
      "a runner process …",
      "the build exports no function …",
      "…/…: …"
    ])
  })

  it("the refusals of settings", () => {
    const server = ["Settings", "BackendSettings", "DomainSettings", "Fault"].map(
      (name) => `examples/standalone/src/${name}.ts`
    )
    const messages = sentencesIn([...server, "adapters/s3/src/StorageUrl.ts"])
    expectSame(listed("setting messages"), messages, ["… …", "S3 secret key"])
  })

  it("the codes of the command line", () => {
    const codes = namesIn(filesBelow("packages/cli/src"), /failure\(\s*"(\w+)"/g, /^ +code: "(\w+)",$/gm)
    const ofTheApi = namesIn(["packages/api/src/errors/Catalogue.ts"], /^ {2}(\w+): \d+,?$/gm)
    // The client gives this one to what is no answer of Weft's.
    expectSame(listed("command line codes"), [...codes, "unrecognized"], [...ofTheApi])
  })

  it("the tags of errors", () => {
    const tags = namesIn(libraries, /Schema\.TaggedError<(\w+)>/g)
    const shown = new Set([...listed("tags"), ...listed("inner tags")])
    expectSame(shown, tags)
  })
})
