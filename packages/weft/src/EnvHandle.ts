/** One environment as a host uses it, with all rights. Every promise rejects with a `WeftError`. */

import type { WeftEnv } from "@weft/core"
import { toAlerts } from "./alerts.ts"
import { toCanaries, toDeployOptions } from "./canary.ts"
import { toComparedBuild } from "./capabilities.ts"
import {
  toActivity,
  toAuditEntry,
  toBuild,
  toCompletedToken,
  toDeadLetter,
  toDomain,
  toEvent,
  toFile,
  toLogEntry,
  toOperation,
  toPage,
  toPause,
  toProject,
  toRun,
  toRunStats,
  toRunSteps,
  toSchedule,
  toSecret,
  toServiceKey,
  toSession,
  toUsage
} from "./convert.ts"
import type { EnvHandle } from "./Env.ts"
import { rejecting, toWeftError } from "./errors.ts"
import { makeEvaluate } from "./evaluate.ts"
import {
  reveal,
  toAuditQuery,
  toCancelQuery,
  toLetterSelection,
  toNewCall,
  toNewEvent,
  toNewOperation,
  toPageRequest,
  toRunQuery
} from "./inputs.ts"
import { toPreviews } from "./previews.ts"
import { toRunSeries, toSeriesQuery } from "./series.ts"

export const toEnvHandle = (env: WeftEnv, id: string): EnvHandle => ({
  id,
  projects: {
    list: (page) => rejecting(async () => toPage(toProject)(await env.projects.list(toPageRequest(page)))),
    create: (input) => rejecting(async () => toProject(await env.projects.create(input))),
    get: (idOrName) => rejecting(async () => toProject(await env.projects.get(idOrName))),
    update: (idOrName, input) => rejecting(async () => toProject(await env.projects.update(idOrName, input))),
    remove: (idOrName) => rejecting(() => env.projects.remove(idOrName))
  },
  builds: toBuilds(env),
  canaries: toCanaries(env),
  previews: toPreviews(env),
  secrets: {
    list: (project, page) =>
      rejecting(async () => toPage(toSecret)(await env.context.list(project, toPageRequest(page)))),
    create: (project, input) => rejecting(async () => toSecret(await env.context.create(project, input))),
    update: (project, key, change) => rejecting(async () => toSecret(await env.context.update(project, key, change))),
    remove: (project, key) => rejecting(() => env.context.remove(project, key))
  },
  files: {
    list: (page, prefix) => rejecting(async () => toPage(toFile)(await env.files.list(toPageRequest(page), prefix))),
    get: (fileId) => rejecting(async () => toFile(await env.files.get(fileId))),
    upload: (path, bytes, { contentType } = {}) =>
      rejecting(async () =>
        toFile(await env.files.upload(path, bytes, contentType === undefined ? {} : { content_type: contentType }))
      ),
    download: (fileId) => iterating(env.files.download(fileId), (bytes) => bytes),
    remove: (fileId) => rejecting(() => env.files.remove(fileId))
  },
  domains: {
    list: (page) => rejecting(async () => toPage(toDomain)(await env.domains.list(toPageRequest(page)))),
    add: (input) => rejecting(async () => toDomain(await env.domains.add(input))),
    get: (domainId) => rejecting(async () => toDomain(await env.domains.get(domainId))),
    verify: (domainId) =>
      rejecting(async () => {
        const { domain, message } = await env.domains.verify(domainId)
        return { domain: toDomain(domain), message }
      }),
    remove: (domainId) => rejecting(() => env.domains.remove(domainId))
  },
  audit: {
    list: (query, page) =>
      rejecting(async () => toPage(toAuditEntry)(await env.audit.list(toAuditQuery(query), toPageRequest(page))))
  },
  ...toCredentials(env),
  events: {
    publish: (event) => rejecting(async () => toEvent(await env.events.publish(toNewEvent(event)))),
    publishMany: (events) => rejecting(async () => (await env.events.publishMany(events.map(toNewEvent))).map(toEvent)),
    list: (page) => rejecting(async () => toPage(toEvent)(await env.events.list(toPageRequest(page)))),
    get: (eventId) => rejecting(async () => toEvent(await env.events.get(eventId))),
    runs: (eventId) => rejecting(async () => (await env.events.runs(eventId)).map(toRun))
  },
  runs: toRuns(env),
  schedules: {
    list: (page) => rejecting(async () => toPage(toSchedule)(await env.schedules.list(toPageRequest(page)))),
    remove: (scheduleId) => rejecting(() => env.schedules.remove(scheduleId))
  },
  pauses: toPauses(env),
  deadLetters: toDeadLetters(env),
  operations: toOperations(env),
  alerts: toAlerts(env),
  deliveries: { cancel: (query) => rejecting(() => env.deliveries.cancel(query)) },
  call: (call) => rejecting(async () => toCalled(await env.call(toNewCall(call)))),
  evaluate: makeEvaluate(env),
  usage: () => rejecting(async () => toUsage(await env.usage())),
  streams: { watch: (streamId) => iterating(env.streams.watch(streamId), toActivity) },
  activity: () => iterating(env.activity(), toActivity)
})

const toBuilds = (env: WeftEnv): EnvHandle["builds"] => ({
  upload: (project, { zip, hash, buildId, type }) =>
    rejecting(async () => {
      const { build, existed } = await env.builds.upload(project, {
        zip,
        hash,
        ...(buildId === undefined ? {} : { build_id: buildId }),
        ...(type === undefined ? {} : { build_type: type })
      })
      return { build: toBuild(build), existed }
    }),
  list: (page) => rejecting(async () => toPage(toBuild)(await env.builds.list(toPageRequest(page)))),
  get: (project, buildId) => rejecting(async () => toBuild(await env.builds.get(project, buildId))),
  deploy: (project, buildId, options = {}) =>
    rejecting(async () => toBuild(await env.builds.deploy(project, buildId, toDeployOptions(options)))),
  capabilities: (project, buildId) =>
    rejecting(async () => toComparedBuild(await env.builds.capabilities(project, buildId, "deployed"))),
  live: (project) => rejecting(async () => toBuild(await env.builds.live(project))),
  endLive: (project) => rejecting(() => env.builds.endLive(project)),
  release: (project, buildId) => rejecting(() => env.builds.release(project, buildId))
})

const toDeadLetters = ({ deadLetters }: WeftEnv): EnvHandle["deadLetters"] => ({
  list: (query, page) =>
    rejecting(async () => toPage(toDeadLetter)(await deadLetters.list(toLetterSelection(query), toPageRequest(page)))),
  redrive: (selection) => rejecting(() => deadLetters.redrive(toLetterSelection(selection))),
  discard: (selection) => rejecting(() => deadLetters.discard(toLetterSelection(selection)))
})

const toOperations = ({ operations }: WeftEnv): EnvHandle["operations"] => ({
  create: (operation) => rejecting(async () => toOperation(await operations.create(toNewOperation(operation)))),
  preview: (operation) => rejecting(() => operations.preview(toNewOperation(operation))),
  list: ({ state } = {}, page) =>
    rejecting(async () => toPage(toOperation)(await operations.list(state, toPageRequest(page)))),
  get: (operationId) => rejecting(async () => toOperation(await operations.get(operationId))),
  cancel: (operationId) => rejecting(async () => toOperation(await operations.cancel(operationId)))
})

const toPauses = ({ pauses }: WeftEnv): EnvHandle["pauses"] => ({
  create: (pause) => rejecting(async () => toPause(await pauses.create(pause))),
  list: (page) => rejecting(async () => toPage(toPause)(await pauses.list(toPageRequest(page)))),
  get: (pauseId) =>
    rejecting(async () => {
      const pause = await pauses.get(pauseId)
      return { ...toPause(pause), runs: pause.runs }
    }),
  remove: (pauseId) => rejecting(() => pauses.remove(pauseId))
})

const toRuns = ({ runs }: WeftEnv): EnvHandle["runs"] => ({
  list: (query, page) => rejecting(async () => toPage(toRun)(await runs.list(toRunQuery(query), toPageRequest(page)))),
  get: (runId) => rejecting(async () => toRun(await runs.get(runId))),
  stats: () => rejecting(async () => toRunStats(await runs.stats())),
  series: (query) => rejecting(async () => toRunSeries(await runs.series(toSeriesQuery(query)))),
  logs: (runId, page) => rejecting(async () => toPage(toLogEntry)(await runs.logs(runId, toPageRequest(page)))),
  steps: (runId, page) => rejecting(async () => toRunSteps(await runs.steps(runId, toPageRequest(page)))),
  wake: (runId) => rejecting(async () => toRun(await runs.wake(runId))),
  cancel: (runId, options) => rejecting(async () => toRun(await runs.cancel(runId, options))),
  cancelAll: (query) => rejecting(() => runs.cancelAll(toCancelQuery(query))),
  completeToken: (runId, name, data) =>
    rejecting(async () => toCompletedToken(await runs.completeToken(runId, name, data))),
  replay: (runId, build, from, data) => rejecting(async () => toCalled(await runs.replay(runId, build, from, data)))
})

const toCredentials = (env: WeftEnv): Pick<EnvHandle, "sessions" | "serviceKeys"> => ({
  sessions: {
    create: (apiKeyId, { expiresInSeconds, ...input }) =>
      rejecting(async () => {
        const { session, token } = await env.sessions.create(apiKeyId, {
          ...input,
          ...(expiresInSeconds === undefined ? {} : { expires_in: expiresInSeconds })
        })
        return { session: toSession(session), token: reveal(token) }
      }),
    list: (apiKeyId, page) =>
      rejecting(async () => toPage(toSession)(await env.sessions.list(apiKeyId, toPageRequest(page)))),
    revoke: (apiKeyId, sessionId) => rejecting(() => env.sessions.revoke(apiKeyId, sessionId)),
    revokeAll: (apiKeyId) => rejecting(() => env.sessions.revokeAll(apiKeyId))
  },
  serviceKeys: {
    create: (apiKeyId, { expiresInSeconds, ...input }) =>
      rejecting(async () => {
        const { key, token } = await env.serviceKeys.create(apiKeyId, {
          ...input,
          ...(expiresInSeconds === undefined ? {} : { expires_in: expiresInSeconds })
        })
        return { key: toServiceKey(key), token: reveal(token) }
      }),
    list: (apiKeyId, page) =>
      rejecting(async () => toPage(toServiceKey)(await env.serviceKeys.list(apiKeyId, toPageRequest(page)))),
    get: (apiKeyId, keyId) => rejecting(async () => toServiceKey(await env.serviceKeys.get(apiKeyId, keyId))),
    revoke: (apiKeyId, keyId) => rejecting(() => env.serviceKeys.revoke(apiKeyId, keyId)),
    revokeAll: (apiKeyId) => rejecting(() => env.serviceKeys.revokeAll(apiKeyId))
  }
})

type Called = Awaited<ReturnType<WeftEnv["call"]>>

const toCalled = ({ event, run }: Called) => ({ event: toEvent(event), run: run === null ? null : toRun(run) })

/** Converts the items of an iteration, and the error that ends it. */
async function* iterating<A, B>(items: AsyncIterable<A>, convert: (item: A) => B): AsyncGenerator<B, void, undefined> {
  try {
    for await (const item of items) yield convert(item)
  } catch (error) {
    throw toWeftError(error)
  }
}
