/** The previews of a project, if it has some: their URLs, their ends, and their removal. */
import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createSignal, For, type JSX, Show } from "solid-js"
import { weft } from "../api/client.ts"
import { dataOf } from "../api/queries.ts"
import { Confirm } from "../design/Confirm.tsx"
import { CopyButton } from "../design/CopyButton.tsx"
import { Instant } from "../design/Instant.tsx"
import { t } from "../text/Language.ts"

/** Previews that the card lists, the newest first: the maximum of a project. */
const previewsMax = 50

export const PreviewCard = (props: { readonly project: string }): JSX.Element => {
  const client = useQueryClient()
  const previews = useQuery(() => ({
    queryKey: ["previews", props.project],
    queryFn: async () => (await weft.previews.list(props.project, { limit: previewsMax })).items,
    enabled: props.project !== ""
  }))
  const [removing, setRemoving] = createSignal<string | null>(null)
  const remove = async (name: string) => {
    await weft.previews.remove(props.project, name)
    await client.invalidateQueries({ queryKey: ["previews"] })
  }
  return (
    <Show when={(dataOf(previews) ?? []).length > 0}>
      <section class="card" aria-labelledby="previews">
        <div class="card-head">
          <h2 id="previews">{t().builds.previews}</h2>
        </div>
        <div class="table-wrap">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">{t().builds.preview}</th>
                <th scope="col" class="wide-only">
                  {t().builds.expires}
                </th>
                <th scope="col">
                  <span class="visually-hidden">{t().builds.remove}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              <For each={dataOf(previews)}>
                {(preview) => (
                  <tr>
                    <td>
                      <span class="mono">{preview.name}</span>{" "}
                      <CopyButton text={new URL(preview.url, location.href).href} label={preview.url} />
                    </td>
                    <td class="muted wide-only">
                      <Instant at={preview.expires_at} />
                    </td>
                    <td>
                      <div class="row-actions">
                        <button type="button" class="button danger" onClick={() => setRemoving(preview.name)}>
                          {t().builds.remove}
                        </button>
                      </div>
                    </td>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
        <Show when={removing()}>
          {(name) => (
            <Confirm
              isOpen
              onClose={() => setRemoving(null)}
              title={t().builds.removePreviewTitle}
              text={t().builds.removePreviewText}
              action={t().builds.remove}
              command={`weft previews delete ${name()}`}
              isDanger
              onConfirm={() => remove(name())}
            />
          )}
        </Show>
      </section>
    </Show>
  )
}
