/** Service keys and sessions of the API key that the person signed in with. */

import { useSearchParams } from "@solidjs/router"
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { ServiceKey, Session } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Icon } from "../design/Icon.tsx"
import { Instant } from "../design/Instant.tsx"
import { currentSession } from "../session/Session.ts"
import { t } from "../text/Language.ts"
import { CreateKeyDialog } from "./CreateKeyDialog.tsx"
import { RightsCard } from "./RightsCard.tsx"

export default function AccessPage(): JSX.Element {
  const client = useQueryClient()
  const [isCreating, setCreating] = createSignal(false)
  const keys = useQuery(() => ({
    queryKey: ["service-keys"],
    queryFn: async () => (await weft.serviceKeys.list({ limit: 100 })).items
  }))
  const sessions = useQuery(() => ({
    queryKey: ["sessions"],
    queryFn: async () => (await weft.sessions.list({ limit: 100 })).items
  }))
  return (
    <div class="page">
      <div class="page-head">
        <h1>{t().access.title}</h1>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => setCreating(true)}>
            <Icon name="plus" />
            {t().access.create}
          </button>
        </div>
      </div>
      <Show when={keys.error ?? sessions.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={keys.data}>{(data) => <KeyTable keys={data()} />}</Show>
      <Show when={sessions.data}>{(data) => <SessionTable sessions={data()} />}</Show>
      <Show when={sessions.data}>{(data) => <RightsCard keys={keys.data ?? []} sessions={data()} />}</Show>
      <CreateKeyDialog
        isOpen={isCreating()}
        onClose={() => {
          setCreating(false)
          void client.invalidateQueries({ queryKey: ["service-keys"] })
        }}
      />
    </div>
  )
}

const KeyTable = (props: { readonly keys: ReadonlyArray<ServiceKey> }): JSX.Element => {
  const client = useQueryClient()
  const [chosen, setChosen] = createSignal<string | null>(null)
  const revoke = async () => {
    await weft.serviceKeys.revoke(chosen() ?? "")
    await client.invalidateQueries({ queryKey: ["service-keys"] })
  }
  return (
    <section class="card" aria-labelledby="keys">
      <div class="card-head">
        <h2 id="keys">{t().access.serviceKeys}</h2>
      </div>
      <Show when={props.keys.length > 0} fallback={<p class="card-body muted">{t().access.noKeys}</p>}>
        <div class="table-wrap">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{t().access.name}</th>
                <th scope="col" class="wide-only">
                  {t().access.permissions}
                </th>
                <th scope="col">{t().access.state}</th>
                <th scope="col">{t().access.expires}</th>
                <th scope="col">
                  <span class="visually-hidden">{t().access.revoke}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={props.keys}>
                {(key) => (
                  <tr>
                    <td>{key.name === "" ? <span class="mono">{key.service_key_id}</span> : key.name}</td>
                    <td class="wide-only">
                      <PermissionTags permissions={key.permissions} />
                    </td>
                    <td>
                      <KeyState of={key} />
                    </td>
                    <td class="muted">
                      <Show when={key.expires_at} fallback={t().access.never}>
                        {(at) => <Instant at={at()} />}
                      </Show>
                    </td>
                    <td>
                      <div class="row-actions">
                        <RightsLink id={key.service_key_id} />
                        <Show when={key.active}>
                          <button type="button" class="button" onClick={() => setChosen(key.service_key_id)}>
                            {t().access.revoke}
                          </button>
                        </Show>
                      </div>
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
      <RevokeDialog
        isOpen={chosen() !== null}
        command={`weft keys revoke ${chosen()}`}
        onClose={() => setChosen(null)}
        onConfirm={revoke}
      />
    </section>
  )
}

/** Shows the rights of a credential, and moves to them. */
const RightsLink = (props: { readonly id: string }): JSX.Element => {
  const [, setSearch] = useSearchParams<{ rights?: string }>()
  const show = () => {
    setSearch({ rights: props.id })
    const heading = document.getElementById("rights")
    heading?.scrollIntoView({ block: "nearest" })
    heading?.focus()
  }
  return (
    <button type="button" class="button" onClick={show}>
      {t().rights.show}
    </button>
  )
}

const KeyState = (props: { readonly of: ServiceKey }): JSX.Element => (
  <Show
    when={props.of.active}
    fallback={<span class="badge">{props.of.revoked_at === null ? t().access.expired : t().access.revoked}</span>}
  >
    <span class="badge succeeded">{t().access.active}</span>
  </Show>
)

export const PermissionTags = (props: { readonly permissions: ServiceKey["permissions"] }): JSX.Element => (
  <ul class="tags">
    <For each={Object.entries(props.permissions)}>
      {([resource, actions]) => (
        <li class="badge plain mono">
          {resource} {actions.join(", ")}
        </li>
      )}
    </For>
  </ul>
)

const SessionTable = (props: { readonly sessions: ReadonlyArray<Session> }): JSX.Element => {
  const client = useQueryClient()
  const [chosen, setChosen] = createSignal<string | null>(null)
  const revoke = async () => {
    await weft.sessions.revoke(chosen() ?? "")
    await client.invalidateQueries({ queryKey: ["sessions"] })
  }
  return (
    <section class="card" aria-labelledby="sessions">
      <div class="card-head">
        <h2 id="sessions">{t().access.sessions}</h2>
      </div>
      <Show when={props.sessions.length > 0} fallback={<p class="card-body muted">{t().access.noSessions}</p>}>
        <div class="table-wrap">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{t().access.application}</th>
                <th scope="col" class="wide-only">
                  {t().access.created}
                </th>
                <th scope="col">{t().access.expires}</th>
                <th scope="col">
                  <span class="visually-hidden">{t().access.revoke}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={props.sessions}>
                {(session) => (
                  <tr>
                    <td>
                      {agentOf(session) ?? <span class="mono">{session.session_id}</span>}{" "}
                      <Show when={session.session_id === currentSession()?.session_id}>
                        <span class="badge succeeded">{t().access.thisSession}</span>
                      </Show>
                    </td>
                    <td class="muted wide-only">
                      <Instant at={session.created_at} />
                    </td>
                    <td class="muted">
                      <Instant at={session.expires_at} />
                    </td>
                    <td>
                      <div class="row-actions">
                        <RightsLink id={session.session_id} />
                        <button type="button" class="button" onClick={() => setChosen(session.session_id)}>
                          {t().access.revoke}
                        </button>
                      </div>
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
      <RevokeDialog
        isOpen={chosen() !== null}
        command={`weft sessions revoke ${chosen()}`}
        onClose={() => setChosen(null)}
        onConfirm={revoke}
      />
    </section>
  )
}

const browsers = /(Firefox|Edg|Chrome|Safari)\/(\d+)/

/** Returns the browser of a session of the console, or null for other sessions. */
const agentOf = ({ metadata }: Session): string | null => {
  const [, name, version] = browsers.exec(JSON.stringify(metadata ?? "")) ?? []
  return name === undefined ? null : `${t().access.browser}: ${name === "Edg" ? "Edge" : name} ${version}`
}

const RevokeDialog = (props: {
  readonly isOpen: boolean
  readonly command: string
  readonly onClose: () => void
  readonly onConfirm: () => Promise<void>
}): JSX.Element => (
  <Confirm
    isOpen={props.isOpen}
    onClose={props.onClose}
    title={t().access.revokeTitle}
    text={t().access.revokeText}
    action={t().access.revoke}
    command={props.command}
    isDanger
    onConfirm={props.onConfirm}
  />
)
