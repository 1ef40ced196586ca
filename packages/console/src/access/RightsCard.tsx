/** Effective rights of one credential: the API key of this sign-in, a service key or a session. */
import { useSearchParams } from "@solidjs/router"
import { useQuery } from "@tanstack/solid-query"
import type { Permissions, ServiceKey, Session } from "@weft/client"
import { createMemo, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { CommandHint } from "../design/CommandHint.tsx"
import { Icon } from "../design/Icon.tsx"
import { admin, isOperator } from "../operator/Operator.ts"
import { currentSession } from "../session/Session.ts"
import { t } from "../text/Language.ts"
import { actions, actionsOf, limitedPaths, type Right, rightOf } from "./Rights.ts"
import "./rights.css"

interface Credential {
  readonly id: string
  readonly name: string
  readonly permissions: Permissions
  /** True for one that an API key created, and that never has more rights. */
  readonly isDerived: boolean
  /** The command that shows the same permissions. */
  readonly command: string
}

const keysMax = 100

/** API keys of the environment, which only the operator may list. */
const useApiKeys = () =>
  useQuery(() => ({
    queryKey: ["operator", "api-keys"],
    queryFn: async () => {
      const { env_id } = await weft.env.get()
      return (await admin.listApiKeys(env_id, { limit: keysMax })).items.map((key) => ({ ...key, env_id }))
    },
    enabled: isOperator()
  }))

export const RightsCard = (props: {
  readonly keys: ReadonlyArray<ServiceKey>
  readonly sessions: ReadonlyArray<Session>
}): JSX.Element => {
  const [search, setSearch] = useSearchParams<{ rights?: string }>()
  const apiKeys = useApiKeys()
  /** The session of this sign-in, which has the rights of its API key. */
  const own = () => props.sessions.find(({ session_id }) => session_id === currentSession()?.session_id)
  const credentials = createMemo((): ReadonlyArray<Credential> => {
    const session = own()
    return [
      ...(session === undefined
        ? []
        : [
            {
              ...{ id: "own", name: t().rights.own, permissions: session.permissions },
              ...{ isDerived: false, command: "weft sessions list --json" }
            }
          ]),
      ...(dataOf(apiKeys) ?? []).map(({ api_key_id: id, env_id, name, permissions }) => ({
        ...{ id, name: `${t().rights.apiKey}: ${name === "" ? id : name}`, permissions, isDerived: false },
        command: `weft admin api-keys list ${env_id} --json`
      })),
      ...props.keys.map(({ service_key_id: id, name, permissions }) => ({
        ...{ id, name: `${t().rights.serviceKey}: ${name === "" ? id : name}`, permissions, isDerived: true },
        command: "weft keys list --json"
      })),
      ...props.sessions.map(({ session_id: id, permissions }) => ({
        ...{ id, name: `${t().rights.session}: ${id.slice(-12)}`, permissions, isDerived: true },
        command: "weft sessions list --json"
      }))
    ]
  })
  const chosen = () => credentials().find(({ id }) => id === search.rights) ?? credentials()[0]
  return (
    <section class="card" aria-labelledby="rights">
      <div class="card-head">
        <h2 id="rights" tabindex="-1">
          {t().rights.title}
        </h2>
        <label class="inline-field end">
          <span>{t().rights.credential}</span>
          <select class="input" onChange={({ currentTarget }) => setSearch({ rights: currentTarget.value })}>
            <For each={credentials()}>
              {({ id, name }) => (
                <option value={id} selected={id === chosen()?.id}>
                  {name}
                </option>
              )}
            </For>
          </select>
        </label>
      </div>
      <Show when={chosen()} fallback={<p class="card-body muted">{t().rights.none}</p>}>
        {(credential) => (
          <>
            <p class="note">{credential().isDerived ? t().rights.derivedHint : t().rights.ownHint}</p>
            <Matrix
              own={credential().permissions}
              creator={credential().isDerived ? (own()?.permissions ?? null) : null}
            />
            <div class="card-body">
              <CommandHint command={credential().command} />
            </div>
          </>
        )}
      </Show>
    </section>
  )
}

const Matrix = (props: { readonly own: Permissions; readonly creator: Permissions | null }): JSX.Element => (
  <div class="table-wrap">
    <table class="table rights-matrix">
      <thead>
        <tr>
          <th scope="col">{t().rights.resource}</th>
          <For each={actions}>
            {(action) => (
              <th scope="col" class="right-cell">
                {t().rights.actions[action]}
              </th>
            )}
          </For>
        </tr>
      </thead>
      <tbody>
        <For each={Object.keys(actionsOf)}>
          {(type) => (
            <tr>
              <th scope="row">
                <span class="mono">{type}</span> <span class="muted wide-only">{t().rights.types[type]}</span>
                <Paths own={props.own} creator={props.creator} type={type} />
              </th>
              <For each={actions}>{(action) => <Cell right={rightOf(props.own, props.creator, type, action)} />}</For>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  </div>
)

const Cell = (props: { readonly right: Right }): JSX.Element => (
  <td class={`right-cell ${props.right.state}`} title={t().rights.states[props.right.state]}>
    <Show when={props.right.state === "all"} fallback={<span aria-hidden="true">{marks[props.right.state]}</span>}>
      <Icon name="check" />
    </Show>
    <span class="visually-hidden">{t().rights.states[props.right.state]}</span>
  </td>
)

const marks: Readonly<Record<Right["state"], string>> = { all: "", some: "◐", lost: "✕", none: "–", unknown: "" }

const Paths = (props: {
  readonly own: Permissions
  readonly creator: Permissions | null
  readonly type: string
}): JSX.Element => {
  const paths = () => limitedPaths(props.own, props.creator, props.type)
  return (
    <Show when={paths().length > 0}>
      <ul class="right-paths">
        <For each={paths()}>
          {([path, granted]) => (
            <li>
              <code>{path}</code> {granted.map((action) => t().rights.actions[action]).join(", ")}
            </li>
          )}
        </For>
      </ul>
    </Show>
  )
}
