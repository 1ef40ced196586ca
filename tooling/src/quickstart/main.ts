/**
 * Does what `docs/quick-start.md` says, as somebody new would: in an empty folder outside of the repository, with the
 * packages as they would be published, and nothing that npm has kept. Says how long each command took. `--write` puts
 * that into the page, and draws its pictures from what the terminals showed.
 *
 * Wants what was built (`npm run build`), and `script` of util-linux.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, loadavg, tmpdir, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { publishedPackages, root } from "../build/published.ts"
import { pack } from "../packing/Archive.ts"
import { pictureOf } from "../pictures/Picture.ts"
import type { Line } from "../pictures/Screen.ts"
import { Terminal } from "../pictures/Terminal.ts"
import { isOpen } from "../services/Port.ts"
import { commandsIn, folderAfter, stays } from "./Commands.ts"
import { openRegistry } from "./Registry.ts"

const page = join(root, "docs/quick-start.md")
const size = { columns: 112, rows: 30 }

/** Where somebody else has that port, the next that is free is taken, and shown as this one. */
const usualOrigin = "http://127.0.0.1:8787"

const hostOf = (origin: string): string => new URL(origin).host

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

/** Of others, before this began. */
const loadOfOthers = loadavg()[0] ?? 0

const main = async (place: string): Promise<void> => {
  const folders = publishedPackages().map(({ folder }) => folder)
  const registry = await openRegistry(pack(folders, place))
  try {
    const env = environment(place, registry.url)
    const [timings, scenes] = await follow(place, env)
    const total = timings.reduce((sum, { seconds }) => sum + seconds, 0)
    console.log(`${total.toFixed(1).padStart(6)} s  altogether, in ${timings.length} commands`)
    if (process.argv.includes("--write")) write(timings, [...scenes, await serverScene(place, env)])
  } finally {
    await registry.close()
  }
}

const environment = (place: string, registry: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  XDG_CONFIG_HOME: join(place, "config"),
  // Nor what the user of this machine has told npm.
  npm_config_userconfig: join(place, "npmrc"),
  npm_config_registry: registry,
  npm_config_cache: join(place, "cache"),
  npm_config_yes: "true",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false"
})

/** Commands up to the one that stays are typed in one terminal, the others in a second one. */
const follow = async (place: string, env: NodeJS.ProcessEnv) => {
  const home = join(place, "home")
  mkdirSync(home)
  const first = new Terminal(home, env, size)
  let origin = usualOrigin
  const timings: Array<Timing> = []
  let second: Terminal | null = null
  for (const command of commandsIn(readFileSync(page, "utf8"))) {
    const terminal = second ?? first
    const moved = folderAfter(command)
    if (moved !== null) terminal.cd(moved.folder)
    const typed = (moved?.rest ?? command).replace(usualOrigin, origin)
    const ended = stays(command) ? await terminal.start(typed, allLive) : await terminal.run(typed)
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(ended.output)?.[0] ?? origin
    timings.push({ command, seconds: ended.seconds })
    console.log(`${ended.seconds.toFixed(1).padStart(6)} s  ${command}`)
    if (stays(command)) second = new Terminal(terminal.folder, env, size)
  }
  if (second === null) throw new Error("No command of the page stays")
  const said = [
    [home, "~"],
    [hostOf(origin), hostOf(usualOrigin)]
  ] as const
  await first.until(/greeted Ada[\s\S]*onGreeted succeeded/)
  const firstRun = await first.lines(said)
  await changes(first, second, `${origin}/webhook/default/development/hello/hello?name=Grace`)
  const dev = await first.lines(said)
  await first.interrupt()
  const scenes: ReadonlyArray<Scene> = [
    {
      name: "first-run",
      title: "hello — npx weft init, npm install, npx weft dev",
      description:
        "A project is made and installed; weft dev starts a server and tells what is live, and the first run.",
      lines: firstRun
    },
    {
      name: "dev",
      title: "hello — npx weft dev",
      description: "Saves become live; a mistake is told with its line.",
      lines: dev.slice(firstRun.length)
    },
    {
      name: "deploy",
      title: "hello — curl, npx weft deploy",
      description: "The webhook answers with a greeting; weft deploy says what changes and where it serves.",
      lines: await second.lines(said)
    }
  ]
  return [timings, scenes] as const
}

/** Saves another greeting, then a mistake, then mends it. */
const changes = async (dev: Terminal, other: Terminal, webhook: string): Promise<void> => {
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
  const isTaken = await isOpen(Number(new URL(usualOrigin).port))
  const command = isTaken ? "npx weft server --port 0" : "npx weft server"
  const { output } = await terminal.start(command, /listening/)
  await terminal.interrupt()
  const [origin = usualOrigin] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
  return {
    name: "server",
    title: "hello — npx weft server",
    description: "A server on this machine says where it listens and where its data is.",
    lines: await terminal.lines([
      [join(place, "home"), "~"],
      [hostOf(origin), hostOf(usualOrigin)],
      [" --port 0", ""]
    ])
  }
}

/** Of empty lines that follow each other, the first. */
const isShown = (line: Line, index: number, lines: ReadonlyArray<Line>): boolean =>
  line.length > 0 || (lines[index - 1]?.length ?? 0) > 0

const write = (timings: ReadonlyArray<Timing>, scenes: ReadonlyArray<Scene>): void => {
  const rows = timings.map(
    ({ command, seconds }) => `| \`${command.replaceAll("|", "\\|")}\` | ${seconds.toFixed(1)} |`
  )
  const total = timings.reduce((sum, { seconds }) => sum + seconds, 0)
  const cores = availableParallelism()
  const busy = loadOfOthers < 1 ? "" : ` that also did other work (a load of ${loadOfOthers.toFixed(1)})`
  const machine = `a virtual machine with ${cores} cores and ${Math.round(totalmem() / 2 ** 30)} GiB${busy}`
  const table = [
    `On ${machine}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}:`,
    "",
    "| command | seconds |",
    "|---|---|",
    ...rows,
    `| altogether | ${total.toFixed(1)} |`
  ].join("\n")
  const text = readFileSync(page, "utf8")
  const between = /(<!-- timings -->\n)[\s\S]*(<!-- \/timings -->)/
  if (!between.test(text)) throw new Error(`${page} has no place for timings`)
  writeFileSync(
    page,
    text.replace(between, (_, begin: string, end: string) => `${begin}${table}\n${end}`)
  )
  for (const { name, title, description, lines } of scenes) {
    const picture = pictureOf(lines.filter(isShown), { title, description, columns: size.columns })
    writeFileSync(join(root, `docs/pictures/${name}.svg`), picture)
  }
}

// `npm run -w` tells the commands below that they are in a workspace, too.
for (const name of Object.keys(process.env))
  if (/^npm_config_(workspace|local_prefix)/.test(name)) delete process.env[name]

const place = mkdtempSync(join(tmpdir(), "weft-quick-start-"))
try {
  await main(place)
} finally {
  rmSync(place, { recursive: true, force: true })
}
