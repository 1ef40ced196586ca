/** The builds of a project, with deployment and rollback. */
import { useQueryClient } from "@tanstack/solid-query"
import type { Build } from "@weft/client"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { ErrorNotice } from "../design/Feedback.tsx"
import { Instant } from "../design/Instant.tsx"
import { showToast } from "../design/Toasts.tsx"
import { formatBytes } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { ChangeList } from "./Declared.tsx"
import { compareEntries } from "./Entries.ts"
import { StartCanary } from "./StartCanary.tsx"
import { type ProjectBuilds, useDescribedBuild } from "./useBuilds.ts"
import { useCanary } from "./useCanary.ts"

export const BuildTable = (props: {
  readonly project: string
  readonly builds: ProjectBuilds
  readonly chosen: string | null
  readonly onChoose: (buildId: string) => void
}): JSX.Element => {
  const [deploying, setDeploying] = createSignal<Build | null>(null)
  const [starting, setStarting] = createSignal<Build | null>(null)
  const canary = useCanary(() => props.project)
  const isCanary = ({ build_id }: Build) => {
    const latest = dataOf(canary)
    return latest?.state === "active" && latest.build_id === build_id
  }
  return (
    <section class="card" aria-labelledby="builds">
      <div class="card-head">
        <h2 id="builds">{t().builds.builds}</h2>
      </div>
      <div class="table-wrap">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t().functions.build}</th>
              <th scope="col" class="wide-only">
                {t().functions.created}
              </th>
              <th scope="col" class="end wide-only">
                {t().functions.size}
              </th>
              <th scope="col">
                <span class="visually-hidden">{t().builds.deploy}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            <For each={props.builds.builds}>
              {(build) => (
                <tr class="build-row" aria-current={build.build_id === props.chosen}>
                  <td>
                    <button type="button" class="link mono" onClick={() => props.onChoose(build.build_id)}>
                      {build.build_id}
                    </button>{" "}
                    <Show when={build.deployed}>
                      <span class="badge succeeded">{t().functions.deployed}</span>
                    </Show>
                    <Show when={isCanary(build)}>
                      <span class="badge running">{t().canary.title}</span>
                    </Show>
                    <Show when={!build.deployed && props.builds.active?.build_id === build.build_id}>
                      <span class="badge running">{t().functions.live}</span>
                    </Show>
                  </td>
                  <td class="muted wide-only">
                    <Instant at={build.created_at} />
                  </td>
                  <td class="end number wide-only">{formatBytes(build.size)}</td>
                  <td>
                    <div class="row-actions">
                      <Show when={!build.deployed}>
                        <button type="button" class="button" onClick={() => setDeploying(build)}>
                          {isEarlier(build, props.builds.deployed) ? t().builds.rollBack : t().builds.deploy}
                        </button>
                        <Show
                          when={props.builds.deployed !== null && build.build_type === "bundle" && !isCanary(build)}
                        >
                          <button type="button" class="button" onClick={() => setStarting(build)}>
                            {t().canary.title}
                          </button>
                        </Show>
                      </Show>
                    </div>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
      <Show when={starting()}>
        {(build) => <StartCanary project={props.project} build={build()} onClose={() => setStarting(null)} />}
      </Show>
      <Show when={deploying()}>
        {(build) => (
          <DeployDialog
            project={props.project}
            build={build()}
            deployed={props.builds.deployed}
            onClose={() => setDeploying(null)}
          />
        )}
      </Show>
    </section>
  )
}

const isEarlier = (build: Build, deployed: Build | null): boolean =>
  deployed !== null && build.created_at < deployed.created_at

/** Shows what a deployment changes before it happens. */
const DeployDialog = (props: {
  readonly project: string
  readonly build: Build
  readonly deployed: Build | null
  readonly onClose: () => void
}): JSX.Element => {
  const client = useQueryClient()
  const before = useDescribedBuild(
    () => props.project,
    () => props.deployed?.build_id ?? null
  )
  const after = useDescribedBuild(
    () => props.project,
    () => props.build.build_id
  )
  const changes = () => {
    const [former, next] = [dataOf(before), dataOf(after)]
    if (next === undefined || (props.deployed !== null && former === undefined)) return undefined
    return compareEntries(former ?? null, next)
  }
  const isBack = () => isEarlier(props.build, props.deployed)
  const deploy = async () => {
    await weft.builds.deploy(props.project, props.build.build_id)
    showToast(t().functions.deployedNow)
    await client.invalidateQueries({ queryKey: ["builds"] })
  }
  return (
    <Confirm
      isOpen
      onClose={props.onClose}
      title={isBack() ? t().builds.rollBackTitle : t().functions.deployTitle}
      text={t().functions.deployText}
      action={isBack() ? t().builds.rollBack : t().builds.deploy}
      command={`weft rollback ${props.build.build_id}`}
      onConfirm={deploy}
    >
      <Show when={after.error}>{(error) => <ErrorNotice error={error()} />}</Show>
      <Show when={changes()}>{(found) => <ChangeList entries={found()} />}</Show>
    </Confirm>
  )
}
