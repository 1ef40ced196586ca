/** Measures one shape on a server of its own. */
import { setTimeout as sleep } from "node:timers/promises"
import { type ChildProcess, startChild } from "./ChildProcess.ts"
import { lostEvents, lostTicks, readRuns, slowestEventMs } from "./Losses.ts"
import { AttackReply, InnocentReport, type Sample } from "./Messages.ts"
import { watchServer } from "./ServerWatch.ts"
import type { Shape } from "./Shape.ts"
import { type Database, openStage, type Stage } from "./Stage.ts"
import { type Measurement, toLatency } from "./Verdict.ts"

export interface MeasureOptions {
  readonly shape: Shape
  /** Duration of the attack. */
  readonly seconds: number
  readonly database: Database
  /** Folder of the server's output. */
  readonly logs: string
}

/** Priority of the attacker's process. Its own work would otherwise take the server's share of 2 cores. */
const attackerNiceness = 10

/** Time until connections and code of the innocent tenant are warm, in milliseconds. */
const warmupMs = 1_500

/** Maximum times without and after an attack, in seconds. Effects after the end of an attack count as well. */
const idleSecondsMax = 3
const recoverySecondsMax = 3

const prepareTimeoutMs = 180_000

/** Maximum time for an attack to stop after its end, in milliseconds. */
const stopTimeoutMs = 20_000
const reportTimeoutMs = 30_000

export const measure = async ({ shape, seconds, database, logs }: MeasureOptions): Promise<Measurement> => {
  const stage = await openStage(shape, database, logs)
  const innocent = startChild(new URL("./innocentMain.ts", import.meta.url))
  const attacker = startChild(new URL("./attackerMain.ts", import.meta.url), attackerNiceness)
  try {
    return await measureOn(stage, shape, seconds, innocent, attacker)
  } finally {
    innocent.kill()
    attacker.kill()
    await stage.close()
  }
}

const measureOn = async (
  stage: Stage,
  shape: Shape,
  seconds: number,
  innocent: ChildProcess,
  attacker: ChildProcess
): Promise<Measurement> => {
  const { node, key } = stage
  const plan = {
    shape: shape.name,
    url: node.url,
    keys: stage.attackerKeys,
    serverPid: node.pid,
    upstreamPort: stage.upstreamPort
  }
  attacker.send({ do: "prepare", plan })
  const ready = await attacker.receive(AttackReply, prepareTimeoutMs)
  if (ready.did === "fail") throw new Error(`${shape.name} could not be prepared: ${ready.reason}`)
  innocent.send({ do: "start", url: node.url, key })
  await sleep(warmupMs)
  const idleFrom = Date.now()
  await sleep(Math.min(idleSecondsMax, seconds) * 1000)
  const watch = await watchServer(node)
  const attackFrom = Date.now()
  attacker.send({ do: "attack", seconds })
  const answers = await receiveAnswers(attacker, seconds)
  await sleep(Math.min(recoverySecondsMax, seconds) * 1000)
  const to = Date.now()
  const server = await watch.stop()
  innocent.send({ do: "stop" })
  const report = await innocent.receive(InnocentReport, reportTimeoutMs)
  const { losses, slowest } = await findLosses(stage, report, idleFrom, to)
  const between = (from: number, until: number): ReadonlyArray<Sample> =>
    report.samples.filter(({ at }) => at >= from && at < until)
  const attacked = between(attackFrom, to)
  return {
    idle: toLatency(between(idleFrom, attackFrom)),
    attacked: toLatency(attacked),
    webhooks: attacked.length,
    losses: [
      ...attacked.flatMap(({ fault }) => (fault === null ? [] : [`a webhook was answered ${fault}`])),
      ...losses
    ],
    slowestEventMs: slowest,
    clientLagMs: report.clientLagMs,
    server,
    isServerGone: server.after.server === 0,
    answers
  }
}

/** Returns null if the attack did not stop at its end; rejects if it failed. */
const receiveAnswers = async (attacker: ChildProcess, seconds: number): Promise<Measurement["answers"]> => {
  const reply = await attacker.receive(AttackReply, seconds * 1000 + stopTimeoutMs).catch(() => null)
  if (reply?.did === "fail") throw new Error(`The attack failed: ${reply.reason}`)
  return reply?.did === "attack" ? reply.answers : null
}

interface Losses {
  readonly losses: ReadonlyArray<string>
  readonly slowest: number
}

const findLosses = async (stage: Stage, report: InnocentReport, from: number, to: number): Promise<Losses> => {
  try {
    const { ofEvents, ofTicks } = await readRuns(stage.node.url, stage.key, report.events)
    return {
      losses: [...lostEvents(report.events, ofEvents), ...lostTicks(from, to - 2_000, ofTicks)],
      slowest: slowestEventMs(report.events, ofEvents)
    }
  } catch (error) {
    return { losses: [`the innocent tenant's runs cannot be read: ${error}`], slowest: Number.POSITIVE_INFINITY }
  }
}
