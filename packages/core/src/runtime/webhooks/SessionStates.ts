/**
 * State of the sessions of MCP clients on one node. Clients may begin any number of sessions and end none. The oldest
 * sessions of an environment are therefore forgotten, then those of the environment that has been idle for longest.
 */
import type { EnvId } from "../../foundation/Ids.ts"

/** Maximum subscriptions of a session. */
export const subscriptionsOfSessionMax = 64
/** Maximum sessions of an environment, and of a node. */
const sessionsOfEnvMax = 1000
const sessionsMax = 10_000
/** Maximum characters of all subscribed URIs of an environment. */
const charactersOfEnvMax = 256 * 1024

interface SessionState {
  level: string | null
  readonly uris: Set<string>
}

/** Sessions of an environment, oldest first. */
interface EnvSessions {
  readonly sessions: Map<string, SessionState>
  characters: number
}

export type StateChange =
  | { readonly level: string }
  | { readonly uri: string; readonly isSubscribed: boolean }
  | { readonly hasEnded: true }

interface Session {
  readonly env_id: EnvId
  readonly key: string
}

export class SessionStates {
  /** The environment that has been idle for longest comes first. */
  readonly #envs = new Map<EnvId, EnvSessions>()
  #size = 0

  level(session: Session): string | null {
    return this.#find(session)?.level ?? null
  }

  isSubscribed(session: Session, uri: string): boolean {
    return this.#find(session)?.uris.has(uri) ?? false
  }

  canSubscribe(session: Session, uri: string): boolean {
    const uris = this.#find(session)?.uris
    return uris === undefined || uris.has(uri) || uris.size < subscriptionsOfSessionMax
  }

  /** Applies a change, made on this node or on another. */
  apply(session: Session, change: StateChange): void {
    if ("hasEnded" in change) this.#remove(session)
    else if ("level" in change) this.#touch(session).level = change.level
    else if (change.isSubscribed) this.#subscribe(session, change.uri)
    else this.#unsubscribe(session, change.uri)
  }

  #find({ env_id, key }: Session): SessionState | undefined {
    return this.#envs.get(env_id)?.sessions.get(key)
  }

  #subscribe(session: Session, uri: string): void {
    const { uris } = this.#touch(session)
    const env = this.#envs.get(session.env_id)
    if (env === undefined || uris.has(uri) || uris.size >= subscriptionsOfSessionMax) return
    uris.add(uri)
    env.characters += uri.length
    while (env.characters > charactersOfEnvMax && env.sessions.size > 1) this.#removeOldest(session.env_id)
  }

  #unsubscribe(session: Session, uri: string): void {
    const env = this.#envs.get(session.env_id)
    if (env !== undefined && this.#find(session)?.uris.delete(uri) === true) env.characters -= uri.length
  }

  /** Returns the state of a session, which becomes the newest of its environment. */
  #touch(session: Session): SessionState {
    const { env_id, key } = session
    const state = this.#find(session) ?? { level: null, uris: new Set<string>() }
    this.#remove(session)
    if ((this.#envs.get(env_id)?.sessions.size ?? 0) >= sessionsOfEnvMax) this.#removeOldest(env_id)
    const [idlest] = this.#envs.keys()
    if (this.#size >= sessionsMax && idlest !== undefined) this.#removeOldest(idlest)
    const env = this.#envs.get(env_id) ?? { sessions: new Map<string, SessionState>(), characters: 0 }
    this.#envs.delete(env_id)
    this.#envs.set(env_id, env)
    env.sessions.set(key, state)
    env.characters += lengthOf(state)
    this.#size++
    return state
  }

  #remove({ env_id, key }: Session): void {
    const env = this.#envs.get(env_id)
    const state = env?.sessions.get(key)
    if (env === undefined || state === undefined) return
    env.sessions.delete(key)
    env.characters -= lengthOf(state)
    this.#size--
    if (env.sessions.size === 0) this.#envs.delete(env_id)
  }

  #removeOldest(envId: EnvId): void {
    const [oldest] = this.#envs.get(envId)?.sessions.keys() ?? []
    if (oldest !== undefined) this.#remove({ env_id: envId, key: oldest })
  }
}

const lengthOf = ({ uris }: SessionState): number => {
  let length = 0
  for (const uri of uris) length += uri.length
  return length
}
