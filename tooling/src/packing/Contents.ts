/** Checks the files of an archive: only build output of current sources, without traces of the build machine. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { root } from "../build/published.ts"
import { traceIn } from "../rules/machineTraces.ts"
import type { Archive } from "./Archive.ts"

const outsideDist = ["package.json", "README.md", "LICENSE"]

export const faultsInContents = (archive: Archive): ReadonlyArray<string> =>
  archive.paths.flatMap((path) => {
    const text = readFileSync(join(archive.staged, path), "utf8")
    return [...strayIn(archive, path), ...tracesIn(text), ...foreignSourcesIn(path, text)].map(
      (fault) => `${archive.manifest.name}/${path}: ${fault}`
    )
  })

/** Files that esbuild splits off: shared or dynamically imported modules of a program. */
const chunk = /^dist\/(?:\w+\/)?\w+-[A-Z0-9]{8}\.js$/

/** Finds build output of deleted sources, and files that are not build output. */
const strayIn = ({ folder }: Archive, path: string): ReadonlyArray<string> => {
  // Vite empties the folder before each build.
  if (path.startsWith("dist/app/") && existsSync(join(root, folder, "vite.config.ts"))) return []
  if (outsideDist.includes(path) || chunk.test(path)) return []
  const module = /^dist\/(.+?)(?:\.d\.ts|\.js|\.js\.map)$/.exec(path)?.[1]
  if (module === undefined) return ["is not build output"]
  return existsSync(join(root, folder, "src", `${module}.ts`)) ? [] : ["its source was deleted: run `npm run build`"]
}

const tracesIn = (text: string): ReadonlyArray<string> => {
  const traces = text.split("\n").flatMap((line) => traceIn(line) ?? [])
  return [...new Set(traces)]
}

const SourceMap = Schema.fromJsonString(Schema.Struct({ sources: Schema.Array(Schema.String) }))

const foreignSourcesIn = (path: string, text: string): ReadonlyArray<string> => {
  if (!path.endsWith(".map")) return []
  const { sources } = Schema.decodeUnknownSync(SourceMap)(text)
  return sources.some((source) => !source.startsWith("../")) ? ["names a source with a path that is not relative"] : []
}
