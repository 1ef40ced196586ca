/** What an archive may hold: what its sources were made into, and nothing of the machine that made it. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { root } from "../build/published.ts"
import { traceIn } from "../rules/machineTraces.ts"
import type { Archive } from "./Archive.ts"

const besideDist = ["package.json", "README.md", "LICENSE"]

export const faultsInContents = (archive: Archive): ReadonlyArray<string> =>
  archive.paths.flatMap((path) => {
    const text = readFileSync(join(archive.staged, path), "utf8")
    return [...strayIn(archive, path), ...tracesIn(text), ...foreignSourcesIn(path, text)].map(
      (fault) => `${archive.manifest.name}/${path}: ${fault}`
    )
  })

/** What modules of a program share, or load later, in a file of its own. */
const chunk = /^dist\/(?:\w+\/)?\w+-[A-Z0-9]{8}\.js$/

/** A module has its source in the repository; otherwise it is a left-over of one that is gone. */
const strayIn = ({ folder }: Archive, path: string): ReadonlyArray<string> => {
  if (besideDist.includes(path) || chunk.test(path)) return []
  const module = /^dist\/(.+?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(path)?.[1]
  if (module === undefined) return ["is nothing that is built"]
  return existsSync(join(root, folder, "src", `${module}.ts`)) ? [] : ["has no source any more: build anew"]
}

const tracesIn = (text: string): ReadonlyArray<string> => {
  const traces = text.split("\n").flatMap((line) => traceIn(line) ?? [])
  return [...new Set(traces)]
}

const SourceMap = Schema.fromJsonString(Schema.Struct({ sources: Schema.Array(Schema.String) }))

const foreignSourcesIn = (path: string, text: string): ReadonlyArray<string> => {
  if (!path.endsWith(".map")) return []
  const { sources } = Schema.decodeUnknownSync(SourceMap)(text)
  return sources.some((source) => !source.startsWith("../")) ? ["maps to a place that is not relative"] : []
}
