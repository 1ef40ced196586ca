/** Runs the commands and functions of a page in order, in one shell. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { commandLine } from "@weft/tooling/programs"
import { type Block, root } from "./Page.ts"
import { folderOf, type Program } from "./Programs.ts"
import { inPlace, type ReferenceServer } from "./ReferenceServer.ts"

/** Maximum time for a page, in milliseconds, on a busy machine. */
export const pageMsMax = 280_000

/** Folder of the prelude and the files that it reads. */
const folderOfBlocks = join(root, "docs/test/blocks")

/** Output of each step, by the line of its block. */
export type Outputs = ReadonlyMap<number, string>

export interface Ended {
  readonly outputs: Outputs
  /** Output of the shell and of the failed block; empty on success. */
  readonly failure: string
}

/**
 * Deploys each function of a page as a separate build. Code without exports becomes the body of a function, and the page
 * calls it.
 */
const buildOf = ({ page, line, code }: Block): string => {
  const project = `${folderOf(page)}-${line}`.slice(0, 60)
  const isModule = /^export /m.test(code)
  const module = isModule ? code : `export const shown = async () => {\n${code}}\n`
  const written = `mkdir -p "$WORK/${project}" && cat >"$WORK/${project}/index.js" <<'END_OF_MODULE'\n${module}END_OF_MODULE`
  const deployed = `(cd "$WORK/${project}" && deploy ${project} ./*)`
  return [written, deployed, ...(isModule ? [] : [`called ${project}:main/shown`])].join("\n")
}

const stepOf = (block: Block, programs: ReadonlyArray<Program>, folder: string): string | null => {
  const { language, note } = block
  if (note?.kind === "not run" || note?.kind === "run by") return null
  if (language === "sh") return block.code
  if (language === "js") return buildOf(block)
  const program = note?.kind === "runs" ? programs.find((one) => one.block === block) : undefined
  return program === undefined ? null : `node --conditions=weft-source "${join(folder, program.file)}"`
}

/** True if the block runs. */
export const isRun = (block: Block): boolean => stepOf(block, [], "") !== null || block.note?.kind === "runs"

export const runPage = async (
  blocks: ReadonlyArray<Block>,
  programs: ReadonlyArray<Program>,
  folder: string,
  server: ReferenceServer
): Promise<Ended> => {
  const page = blocks[0]?.page ?? ""
  const work = join(folder, "work", folderOf(page))
  mkdirSync(`${work}/here`, { recursive: true })
  const steps = blocks.flatMap((block) => {
    const step = stepOf(block, programs, folder)
    const out = `"$WORK/out-${block.line}"`
    return step === null ? [] : [`at "${page}:${block.line}"\n{\n${inPlace(step, server)}\n} >${out} 2>"$WORK/err"`]
  })
  const script = join(work, "page.sh")
  writeFileSync(script, [`. "${folderOfBlocks}/prelude.sh"`, `cd "${work}/here"`, ...steps].join("\n\n"))
  const { code, said } = await runScript(script, work, server)
  const outputs = new Map(blocks.map(({ line }) => [line, written(join(work, `out-${line}`))]))
  const last = code === 0 ? "" : `${said}${written(join(work, "err"))}\n${[...outputs.values()].filter(Boolean).at(-1)}`
  return { outputs, failure: last }
}

const written = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/** Runs the script, and ends all of its processes with it. */
const runScript = async (script: string, work: string, server: ReferenceServer) => {
  const shell = spawn("bash", [script], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
      HOME: work,
      // Every command loads the command line again.
      NODE_COMPILE_CACHE: join(work, "..", "compiled"),
      WORK: work,
      BLOCKS: folderOfBlocks,
      COMMAND_LINE: await commandLine(),
      ORIGIN: server.url,
      WEFT_URL: server.url,
      WEFT_API_KEY: server.key,
      WEFT_ADMIN_TOKEN: server.adminToken,
      API: `${server.url}/v1`,
      KEY: server.key,
      ADMIN_TOKEN: server.adminToken
    }
  })
  const said: Array<string> = []
  shell.stderr.on("data", (chunk) => said.push(String(chunk)))
  const timer = setTimeout(() => shell.pid !== undefined && process.kill(-shell.pid, "SIGKILL"), pageMsMax)
  const [code] = await once(shell, "exit")
  clearTimeout(timer)
  try {
    if (shell.pid !== undefined) process.kill(-shell.pid, "SIGTERM")
  } catch {
    // Nothing is left of the group.
  }
  return { code, said: said.join("") }
}
