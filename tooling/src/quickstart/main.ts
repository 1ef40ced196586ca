/**
 * Runs the commands of `docs/quick-start.md` as a new user would, and prints the duration of each. The folder and the
 * npm cache are empty, and the packages are packed as they would be published. `--write` writes the durations into the
 * page, and renders its pictures from the content of the terminals.
 *
 * Requires the output of `npm run build`, and `script` of util-linux.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, loadavg, tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { publishedPackages, root } from "../build/published.ts"
import { pack } from "../packing/Archive.ts"
import { renderPicture } from "../pictures/Picture.ts"
import type { Line } from "../pictures/Screen.ts"
import { Terminal } from "../pictures/Terminal.ts"
import { isOpen } from "../services/Port.ts"
import { commandsIn, isLongRunning, parseCd } from "./Commands.ts"
import { openRegistry } from "./Registry.ts"

const page = join(root, "docs/quick-start.md")
const size = { columns: 112, rows: 30 }

/** Default address of the server. If the port is in use, the server takes the next free one; the pictures show this one. */
const defaultOrigin = "http://127.0.0.1:8787"

const getHost = (origin: string): string => new URL(origin).host

const allLive = /live in [\s\S]*next at/

interface Timing {
  readonly command: string
  readonly seconds: number
}

interface Scene {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly lines: ReadonlyArray<Line>
}

/** Load average of the machine before the run. */
const initialLoad = loadavg()[0] ?? 0

const main = async (place: string): Promise<void> => {
  const folders = publishedPackages().map(({ folder }) => folder)
  const registry = await openRegistry(pack(folders, place))
  try {
    const env = environment(place, registry.url)
    const [timings, scenes] = await follow(place, env)
    const total = timings.reduce((sum, { seconds }) => sum + seconds, 0)
    console.log(`${total.toFixed(1).padStart(6)} s  total, in ${timings.length} commands`)
    if (process.argv.includes("--write")) write(timings, [...scenes, await serverScene(place, env)])
  } finally {
    await registry.close()
  }
}

const environment = (place: string, registry: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  XDG_CONFIG_HOME: join(place, "config"),
  // Ignores the npm configuration of the current user.
  npm_config_userconfig: join(place, "npmrc"),
  npm_config_registry: registry,
  npm_config_cache: join(place, "cache"),
  npm_config_yes: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false"
})

/** Runs the commands up to the long-running one in one terminal, and the others in a second one. */
const follow = async (place: string, env: NodeJS.ProcessEnv) => {
  const home = join(place, "home")
  mkdirSync(home)
  const first = new Terminal(home, env, size)
  let origin = defaultOrigin
  const timings: Array<Timing> = []
  let second: Terminal | null = null
  for (const command of commandsIn(readFileSync(page, "utf8"))) {
    const terminal = second ?? first
    const moved = parseCd(command)
    if (moved !== null) terminal.cd(moved.folder)
    const typed = (moved?.rest ?? command).replace(defaultOrigin, origin)
    const ended = isLongRunning(command) ? await terminal.start(typed, allLive) : await terminal.run(typed)
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(ended.output)?.[0] ?? origin
    timings.push({ command, seconds: ended.seconds })
    console.log(`${ended.seconds.toFixed(1).padStart(6)} s  ${command}`)
    if (isLongRunning(command)) second = new Terminal(terminal.folder, env, size)
  }
  if (second === null) throw new Error("docs/quick-start.md has no long-running command, such as `weft dev`")
  const replacements = [
    [home, "~"],
    [getHost(origin), getHost(defaultOrigin)]
  ] as const
  await first.until(/greeted Ada[\s\S]*onGreeted succeeded/)
  const firstRun = await first.lines(replacements)
  await editSource(first, second, `${origin}/webhook/default/development/hello/hello?name=Grace`)
  const dev = await first.lines(replacements)
  await first.interrupt()
  const scenes: ReadonlyArray<Scene> = [
    {
      name: "first-run",
      title: "hello — npx weft init, npm install, npx weft dev",
      description:
        "Creates and installs a project; weft dev starts a server and prints the live build and the first run.",
      lines: firstRun
    },
    {
      name: "dev",
      title: "hello — npx weft dev",
      description: "Each save goes live; a syntax error is reported with its line.",
      lines: dev.slice(firstRun.length)
    },
    {
      name: "deploy",
      title: "hello — curl, npx weft deploy",
      description: "The webhook responds with a greeting; weft deploy prints the changes and the URLs.",
      lines: await second.lines(replacements)
    }
  ]
  return [timings, scenes] as const
}

/** Saves another greeting, then a syntax error, then a fix with another schedule. */
const editSource = async (dev: Terminal, other: Terminal, webhook: string): Promise<void> => {
  const file = join(other.folder, "src/index.ts")
  const source = readFileSync(file, "utf8")
  const welcome = source.replace("Hello, ", "Welcome, ")
  writeFileSync(file, welcome)
  await dev.until(/live in[\s\S]*live in/)
  await other.run(`curl '${webhook}'`)
  await dev.until(/greeted Grace[\s\S]*onGreeted succeeded/)
  writeFileSync(file, welcome.replace("svc.log.info(", "svc.log.info(("))
  await dev.until(/index\.ts:\d+/)
  writeFileSync(file, welcome.replace('"0 * * * *"', '"0 3 * * *"'))
  await dev.until(/0 3 \* \* \*/)
}

const serverScene = async (place: string, env: NodeJS.ProcessEnv): Promise<Scene> => {
  const terminal = new Terminal(join(place, "home/hello"), env, size)
  const isTaken = await isOpen(Number(new URL(defaultOrigin).port))
  const command = isTaken ? "npx weft server --port 0" : "npx weft server"
  const { output } = await terminal.start(command, /listening/)
  await terminal.interrupt()
  const [origin = defaultOrigin] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
  return {
    name: "server",
    title: "hello — npx weft server",
    description: "A server on this machine prints its address and the folder of its data.",
    lines: await terminal.lines([
      [join(place, "home"), "~"],
      [getHost(origin), getHost(defaultOrigin)],
      [" --port 0", ""]
    ])
  }
}

/** True for every line but a repeated empty one. */
const isShown = (line: Line, index: number, lines: ReadonlyArray<Line>): boolean =>
  line.length > 0 || (lines[index - 1]?.length ?? 0) > 0

const write = (timings: ReadonlyArray<Timing>, scenes: ReadonlyArray<Scene>): void => {
  const rows = timings.map(
    ({ command, seconds }) => `| \`${command.replaceAll("|", "\\|")}\` | ${seconds.toFixed(1)} |`
  )
  const total = timings.reduce((sum, { seconds }) => sum + seconds, 0)
  const cores = availableParallelism()
  const busy = initialLoad < 1 ? "" : ` that also did other work (a load of ${initialLoad.toFixed(1)})`
  const machine = `a virtual machine with ${cores} cores and ${Math.round(totalmem() / 2 ** 30)} GiB${busy}`
  const table = [
    `On ${machine}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}:`,
    "",
    "| command | seconds |",
    "|---|---|",
    ...rows,
    `| total | ${total.toFixed(1)} |`
  ].join("\n")
  const text = readFileSync(page, "utf8")
  const between = /(<!-- timings -->\n)[\s\S]*(<!-- \/timings -->)/
  if (!between.test(text)) throw new Error(`${page} needs the markers <!-- timings --> and <!-- /timings -->`)
  writeFileSync(
    page,
    text.replace(between, (_, begin: string, end: string) => `${begin}${table}\n${end}`)
  )
  for (const { name, title, description, lines } of scenes) {
    const picture = renderPicture(lines.filter(isShown), { title, description, columns: size.columns })
    writeFileSync(join(root, `docs/pictures/${name}.svg`), picture)
  }
}

// `npm run -w` sets variables that would make the commands below run in this workspace.
for (const name of Object.keys(process.env))
  if (/^npm_config_(workspace|local_prefix)/.test(name)) delete process.env[name]

const place = mkdtempSync(join(tmpdir(), "weft-quick-start-"))
try {
  await main(place)
} finally {
  rmSync(place, { recursive: true, force: true })
}
