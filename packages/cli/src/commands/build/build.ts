/** `weft build`: writes and checks the zip of a deployment, without a server. */
import { Effect, FileSystem, Path } from "effect"
import { Command } from "effect/cli"
import { makeBundler } from "../../bundle/Bundle.ts"
import { listEntryPoints } from "../../deployment/EntryPoints.ts"
import { makeManifestReader } from "../../deployment/ManifestReader.ts"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { readProject } from "../../project/Project.ts"

const target = "dist/build.zip"

export const build = Command.make(
  "build",
  {},
  Effect.fnUntraced(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const output = yield* Output
    const project = yield* readProject
    const { zip, hash, files } = yield* (yield* makeBundler(project)).bundle(9)
    const entryPoints = listEntryPoints(yield* (yield* makeManifestReader).read(zip))
    const file = path.join(project.folder, target)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true }).pipe(
      Effect.andThen(fs.writeFile(file, zip)),
      Effect.mapError((error) => failure("file", `${file} cannot be written: ${error.message}`))
    )
    const functions = new Set(entryPoints.map(({ fn }) => fn)).size
    yield* output.print({ file, hash, size: zip.length, files, offers: entryPoints }, () =>
      [
        `${target}  ${bytes(zip.length)}, ${functions} function${functions === 1 ? "" : "s"}`,
        `sha256 ${hash}`,
        ...files.map((file) => output.paint.dim(`  ${file.name}  ${bytes(file.bytes)}`))
      ].join("\n")
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription(`Bundle the project into ${target} and check that it can be deployed`),
  Command.withExamples([{ command: "weft build", description: "Print the size and the hash of the build" }])
)
