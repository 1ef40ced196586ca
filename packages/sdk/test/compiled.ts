/** Compiles sources as in an author's project: strict TypeScript, with the SDK as an installed package. */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

export interface Complaint {
  readonly file: string
  readonly line: number
  readonly message: string
}

export interface AuthorsProject extends AsyncDisposable {
  readonly folder: string
  /** Errors of the compiler. */
  readonly compile: () => Promise<ReadonlyArray<Complaint>>
  /** Runs a tool of the repository in the folder; returns its output, even if it failed. */
  readonly run: (
    tool: string,
    args: ReadonlyArray<string>
  ) => Promise<{ readonly ok: boolean; readonly output: string }>
}

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "dom"],
  types: ["node"],
  customConditions: ["weft-source"],
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true
}

/** Options for a project that runs its own tests. */
export const vitestConfig = `
export default {
  test: { execArgv: ["--conditions=weft-source"] },
  ssr: { resolve: { conditions: ["weft-source"], externalConditions: ["weft-source"] } },
  resolve: { conditions: ["weft-source"] }
}
`

/** Creates a folder with these files, outside the repository. */
export const authorsProject = async (files: Readonly<Record<string, string>>): Promise<AuthorsProject> => {
  const folder = await mkdtemp(join(tmpdir(), "weft-sdk-"))
  const all = {
    "package.json": JSON.stringify({ type: "module" }),
    "tsconfig.json": JSON.stringify({ compilerOptions, include: ["**/*.ts"], exclude: ["node_modules"] }),
    ...files
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const run: AuthorsProject["run"] = (tool, args) =>
    new Promise((resolve) => {
      execFile(join(root, "node_modules/.bin", tool), args, { cwd: folder }, (error, stdout, stderr) =>
        resolve({ ok: error === null, output: `${stdout}${stderr}` })
      )
    })
  return {
    folder,
    run,
    compile: async () => complaintsIn((await run("tsc", ["-p", ".", "--pretty", "false"])).output),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true })
  }
}

/** Parses errors; the indented lines after an error are part of its message. */
const complaintsIn = (output: string): ReadonlyArray<Complaint> => {
  const complaints: Array<Complaint> = []
  for (const text of output.split("\n").filter((line) => line !== "")) {
    const [, file, line, message] = /^(\S+)\((\d+),\d+\): error (.*)$/.exec(text) ?? []
    const last = complaints.at(-1)
    if (file !== undefined && message !== undefined) complaints.push({ file, line: Number(line), message })
    else if (last !== undefined) complaints[complaints.length - 1] = { ...last, message: `${last.message}\n${text}` }
    else complaints.push({ file: "", line: 0, message: text })
  }
  return complaints
}
