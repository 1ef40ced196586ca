/** Generator of `src/generated`: types and methods derived from the definition of the API. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { errorStatus } from "@weft/api"
import { type Endpoint, endpoints, type JsonSchema, schemas } from "./Document.ts"
import {
  answerTypeOf,
  classOf,
  classText,
  filtersOf,
  inputTypeOf,
  isByHand,
  queryInterface,
  queryTypeOf
} from "./Methods.ts"
import { type Direction, interfaceOf, nameOf, typeOf } from "./Types.ts"

export const generatedFolder = new URL("../src/generated/", import.meta.url)

const root = fileURLToPath(new URL("../../..", import.meta.url))
const biome = join(root, "node_modules/.bin/biome")

/** Formats all files at once, because starting the formatter is slow. */
const formatted = (files: ReadonlyArray<readonly [string, string]>): ReadonlyArray<readonly [string, string]> => {
  const folder = mkdtempSync(join(tmpdir(), "weft-client-"))
  try {
    for (const [name, text] of files) writeFileSync(join(folder, name), text)
    execFileSync(biome, ["check", "--write", "--vcs-enabled=false", `--config-path=${root}`, folder], { stdio: "pipe" })
    return files.map(([name]) => [name, readFileSync(join(folder, name), "utf8")] as const)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const origin = "Generated from the definition of the API: `npm run generate -w packages/client`"

const file = (subject: string, parts: ReadonlyArray<string>): string =>
  `/** ${subject}. ${origin}. */\n${parts.join("\n\n")}\n`

/** Returns the names of schemas that a schema references, transitively. */
const reached = (schema: JsonSchema, found = new Set<string>()): ReadonlySet<string> => {
  JSON.stringify(schema, (key, value) => {
    if (key === "$ref" && !found.has(nameOf(value))) {
      found.add(nameOf(value))
      reached(schemas[nameOf(value)] ?? {}, found)
    }
    return value
  })
  return found
}

const messageNames = ["EnvironmentMessage", "StreamMessage", "WatchedMessage"]

/** Returns the names in a type such as `Run | Event`. */
const namesIn = (type: string): ReadonlyArray<string> => type.match(/[A-Za-z]+/g) ?? []

/** Returns the names in the types of an answer. */
const recordsIn = (answer: ReturnType<typeof answerTypeOf>): ReadonlyArray<string> => [
  ...("type" in answer ? namesIn(answer.type) : []),
  ...("more" in answer ? namesIn(answer.more.type) : [])
]

const recordsOf = (all: ReadonlyArray<Endpoint>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const endpoint of all) {
    const answer = answerTypeOf(endpoint)
    for (const name of recordsIn(answer)) {
      if (schemas[name] === undefined) continue
      names.add(name)
      for (const inner of reached(schemas[name])) names.add(inner)
    }
  }
  // The responses of uploads of builds and files.
  for (const name of ["UploadedBuild", "UploadedFile", "UploadedPart"]) names.add(name)
  return [...names].filter((name) => !messageNames.includes(name)).sort()
}

const inputsOf = (all: ReadonlyArray<Endpoint>): ReadonlyArray<string> =>
  [...new Set(all.flatMap((endpoint) => inputTypeOf(endpoint) ?? []))].sort()

const interfaces = (names: ReadonlyArray<string>, direction: Direction): ReadonlyArray<string> =>
  names.map((name) => interfaceOf(name, schemas[name] ?? {}, direction))

const messages = (): string => {
  const types = messageNames.map((name) => {
    const kinds = schemas[name]?.anyOf ?? []
    return `export type ${name} = ${kinds.map((kind) => `\n  | ${typeOf(kind, "received", 2)}`).join("")}`
  })
  const records = messageNames.flatMap((name) => [...reached(schemas[name] ?? {})])
  const imported = [...new Set(records)].filter((name) => !messageNames.includes(name))
  return file("The messages of subscriptions", [
    [
      `import type { Json } from "../Json.ts"`,
      ...(imported.length === 0 ? [] : [`import type { ${imported.join(", ")} } from "./Records.ts"`])
    ].join("\n"),
    ...types
  ])
}

const inputs = (all: ReadonlyArray<Endpoint>): string =>
  file("The inputs of requests", [
    `import type { PageQuery } from "../Pages.ts"`,
    `import type { Permissions } from "../Permissions.ts"`,
    ...interfaces(inputsOf(all), "sent"),
    ...all.filter((endpoint) => filtersOf(endpoint).length > 0).map(queryInterface)
  ])

const group = (name: string, all: ReadonlyArray<Endpoint>): string => {
  const text = classText(name, all)
  const isUsed = (word: string) => new RegExp(`\\b${word}\\b`).test(text)
  const from = (module: string, words: ReadonlyArray<string>, type = "type ") => {
    const used = words.filter(isUsed)
    return used.length === 0 ? [] : [`import ${type}{ ${used.join(", ")} } from "${module}"`]
  }
  const queries = all.flatMap((endpoint) => queryTypeOf(endpoint) ?? []).filter((query) => query !== "PageQuery")
  const types = all.map(answerTypeOf).flatMap(recordsIn)
  return file(`The methods of \`${name}\``, [
    [
      ...from("../Json.ts", ["Json"]),
      ...from("../RequestOptions.ts", ["RequestOptions", "KeyedOptions", "BytesOptions"]),
      ...from("../Pages.ts", ["PageQuery", "Pages"]),
      `import { Endpoints } from "../transport/Endpoints.ts"`,
      ...from("../transport/Path.ts", ["path"], ""),
      ...from("../transport/Random.ts", ["randomUuid"], ""),
      ...from("./Inputs.ts", [...new Set([...all.flatMap((endpoint) => inputTypeOf(endpoint) ?? []), ...queries])]),
      ...from(
        "./Records.ts",
        [...new Set(types)].filter((type) => schemas[type] !== undefined)
      )
    ].join("\n"),
    text
  ])
}

/** True for records of runs and of their recordings, which have a file of their own. */
const isOfRuns = (name: string): boolean =>
  /^(?:Run|Record)/.test(name) ||
  ["Evaluation", "FunctionSeries", "LogEntry", "Percentiles", "ReplResult", "SeriesPoint", "Waiting"].includes(name)

const fileOf = (name: string): string => `${classOf(name)}.ts`

/** Returns names and texts of all files. */
export const generated = (): ReadonlyArray<readonly [string, string]> => {
  const all = endpoints()
  const plain = all.filter((endpoint) => !isByHand(endpoint))
  const groups = [...new Set(plain.map((endpoint) => endpoint.group))]
  const codes = Object.keys(errorStatus).map((code) => `\n  | "${code}"`)
  const names = recordsOf(plain)
  const ofRuns = names.filter(isOfRuns)
  const records = file("The records of responses", [
    [
      `import type { Json } from "../Json.ts"`,
      `import type { Permissions } from "../Permissions.ts"`,
      `export type { ${ofRuns.join(", ")} } from "./RunRecords.ts"`
    ].join("\n"),
    ...interfaces(
      names.filter((name) => !isOfRuns(name)),
      "received"
    )
  ])
  const runRecords = file("The records of runs", [
    `import type { Json } from "../Json.ts"`,
    ...interfaces(ofRuns, "received")
  ])
  const files: ReadonlyArray<readonly [string, string]> = [
    ["Records.ts", records],
    ["RunRecords.ts", runRecords],
    ["Inputs.ts", inputs(all)],
    ["Messages.ts", messages()],
    ["ErrorCode.ts", file("The codes of failures", [`export type ErrorCode =${codes.join("")}`])],
    ...groups.map(
      (name) =>
        [
          fileOf(name),
          group(
            name,
            plain.filter((endpoint) => endpoint.group === name)
          )
        ] as const
    )
  ]
  return formatted(files)
}
