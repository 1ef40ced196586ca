/** German texts of the operator's pages. */
import type { enOperator } from "./enOperator.ts"

export const deOperator: typeof enOperator = {
  operator: {
    title: "Betreiber",
    intro:
      "Diese Seiten zeigen den ganzen Server und brauchen sein Admin-Token. Es bleibt nur im Speicher dieser Seite, bis Sie neu laden oder sperren.",
    token: "Admin-Token",
    unlock: "Entsperren",
    lock: "Sperren",
    refused: "Der Server lehnt dieses Token ab, oder er hat kein Admin-Token.",
    pages: { orgs: "Organisationen", node: "Knoten", quarantine: "Quarantäne", plans: "Tarife" },
    createOrg: "Organisation anlegen",
    createOrgText: "Ihr Kürzel ist ein Teil der URLs von Webhooks.",
    slug: "Kürzel",
    plan: "Tarif",
    changePlan: "Tarif ändern",
    changePlanText: "Die Grenzen des neuen Tarifs gelten sofort.",
    storedRuns: "Gespeicherte Läufe",
    members: "Mitglieder",
    environments: "Umgebungen",
    noEnvironments: "Diese Organisation hat keine Umgebung.",
    createEnv: "Umgebung anlegen",
    noOrgsTitle: "Noch keine Organisation",
    noOrgs: "Legen Sie eine hier oder mit `weft admin orgs create` an.",
    version: "Version",
    started: "Gestartet",
    nodeIntro: (version, sha, start) =>
      `Der Knoten dieser Antwort: Version ${version} (${sha}), gestartet ${start}. Hinter einem Lastverteiler antwortet vielleicht ein anderer.`,
    tiles: {
      deliveries_running: "Laufende Zustellungen",
      deliveries_waiting: "Wartende Zustellungen",
      records_pending: "Wartende Einträge",
      subscriptions: "Abonnements",
      sandbox_runner_deaths_total: "Ende von Runnern",
      sandbox_quarantined: "Builds in Quarantäne"
    },
    metrics: "Messwerte",
    value: "Wert",
    meaning: "Bedeutung",
    quarantineIntro:
      "Ein Knoten führt einen Build nicht mehr aus, der wiederholt seinen Runner-Prozess beendet. Die Einträge sind aus dem Audit-Protokoll; ein Neustart beendet die Quarantäne ebenfalls.",
    noQuarantineTitle: "Kein Build war in Quarantäne",
    noQuarantine: "Ein Build erscheint hier, wenn er wiederholt seinen Runner-Prozess beendet hat.",
    reason: "Grund",
    lifted: "Aufgehoben",
    release: "Aufheben",
    releaseTitle: "Quarantäne dieses Builds aufheben",
    releaseText: "Alle Knoten führen den Build wieder aus. Beendet er seinen Runner erneut, beginnt sie von vorn.",
    released: "Die Quarantäne ist aufgehoben",
    plansIntro: "Die Grenzen gelten je Organisation, über alle ihre Umgebungen. Ein Host kann sie ändern.",
    limit: "Grenze",
    limits: {
      requests_per_second: "Anfragen pro Sekunde",
      host_calls_per_second: "Aufrufe von Funktionen pro Sekunde",
      tcp_sockets_per_run: "TCP-Verbindungen eines Laufs",
      max_file_bytes: "Größe einer Datei",
      runs_per_month: "Läufe pro Monat",
      storage_bytes: "Dateispeicher",
      team_members: "Mitglieder",
      call_retention_days: "Tage, die Läufe gespeichert sind",
      call_storage_bytes: "Ergebnisse und Protokolle",
      domains: "Domains",
      max_chain_depth: "Tiefe einer Kette von Ereignissen",
      max_steps_per_run: "Schritte eines dauerhaften Laufs",
      max_step_result_bytes: "Ergebnis eines Schritts",
      max_suspended_runs: "Ausgesetzte Läufe",
      max_pending_deliveries: "Wartende Zustellungen",
      max_schedules: "Zeitpläne",
      max_eval_source_bytes: "Quelltext ohne Build",
      max_repl_sessions: "Offene Konsolen je Umgebung",
      max_alert_rules: "Alarmregeln",
      max_previews: "Vorschauen je Umgebung"
    }
  }
}
