/** One tenant attacks while the webhook of another is called continuously; measures the slowest response. */
import type { Contender, Suite } from "../Suite.ts"
import { startWeft, type WeftServer } from "../targets/Server.ts"

const timeoutMs = 2_000

/** Bodies of guest functions that try to exceed their limits. */
const attacks: Readonly<Record<string, string>> = {
  "endless loop": "for (;;) {}",
  "endless microtasks": "for (;;) await null",
  "deep recursion": "const f = () => { try { f() } finally { f() } }; f()",
  "growing Map": "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
  "deep JSON": "let o = {}; for (;;) { o = { o, p: 'x'.repeat(1000) }; JSON.stringify(o) }",
  "10 GB of ArrayBuffers":
    "const a = []; for (let i = 0; i < 10240; i++) a.push(new Uint8Array(1 << 20).fill(1)); return a.length",
  "never resolves": "return new Promise(() => {})",
  "endless host calls":
    "for (let n = 0; ; n++) { svc.events.publish({ type: 'spam', data: n }).catch(() => {}); if (n % 100 === 0) await null }",
  "Array(1e9).fill": "return Array(1e9).fill(1).length",
  "endless timers": "for (;;) setTimeout(() => {}, 1)",
  "endless log": "for (;;) console.log('x'.repeat(1000))",
  "catastrophic regular expression": "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
  "huge result": "return 'x'.repeat(4e8)"
}

const names = Object.keys(attacks)

const victim = `
export const ping = () => ({ status: 200, body: "pong" })
ping.meta = { webhook: { service: "victim", path: "/ping", method: "GET" } }
`

const attacker = names
  .map(
    (name, index) => `
export const a${index} = async (request, svc) => { ${attacks[name]} }
a${index}.meta = { timeout: ${timeoutMs}, webhook: { service: "attacker", path: "/${index}", method: "GET" } }
`
  )
  .join("")

/** Calls the victim until `stop`. */
const watchVictim = (
  url: string
): { readonly stop: () => Promise<{ readonly worstMs: number; readonly failures: number }> } => {
  let isRunning = true
  const watching = (async () => {
    let worstMs = 0
    let failures = 0
    while (isRunning) {
      const sent = performance.now()
      const response = await fetch(url)
      await response.arrayBuffer()
      worstMs = Math.max(worstMs, performance.now() - sent)
      if (!response.ok) failures++
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    return { worstMs, failures }
  })()
  return {
    stop: () => {
      isRunning = false
      return watching
    }
  }
}

const contender = (server: WeftServer, name: string, index: number): Contender => ({
  name,
  measure: async () => {
    const hook = `${server.url}/webhook/default/production`
    await (await fetch(`${hook}/victim/ping`)).arrayBuffer()
    const victims = watchVictim(`${hook}/victim/ping`)
    const sent = performance.now()
    await (await fetch(`${hook}/attacker/${index}`)).arrayBuffer()
    const endedMs = performance.now() - sent
    // Effects after the end of an attack count as well.
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { worstMs, failures } = await victims.stop()
    await server.redeploy("attacker")
    return { "attack ended after ms": endedMs, "victim's slowest response ms": worstMs, "victim's failures": failures }
  }
})

export const attackSuite: Suite = {
  name: "attacks",
  isExtra: true,
  measures: `another tenant's webhook while guest code with a timeout of ${timeoutMs} ms attacks`,
  open: async () => {
    const server = await startWeft({ victim, attacker })
    return {
      contenders: names.map((name, index) => contender(server, name, index)),
      settings: {
        weft: "the reference server with its default limits",
        deployment: "the attacker deploys again after each attack"
      },
      close: server.close
    }
  }
}
