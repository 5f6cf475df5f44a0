// For how long recordings stay on this computer after they were sent.

const DAY_S = 86_400;
const DEFAULT_DAYS = 30;
const CHOICES = [0, 1, 7, 30, null]; // days; null: until they are discarded
const SETTING = "keep_sent_days";

export class Retention {
  /** `store` is a promise; `onChange` is called when recordings were discarded or the setting was changed. */
  constructor(store, onChange) {
    this.store = store;
    this.onChange = onChange;
  }

  /** Days that sent recordings are stored; null for no limit. */
  async days() {
    const days = await (await this.store).setting(SETTING);
    return CHOICES.includes(days) ? days : DEFAULT_DAYS;
  }

  async choose({ days }) {
    if (!CHOICES.includes(days)) throw new Error("Choose one of the offered times.");
    await (await this.store).saveSetting(SETTING, days);
    await this.discardExpired();
    this.onChange();
  }

  /** Discard the recordings that were sent longer ago than they are to be stored. */
  async discardExpired() {
    const days = await this.days(), time = Date.now() / 1000;
    if (days === null) return;
    await this.#discard(({ sent, ended_at }) => time - (sent.at ?? ended_at ?? 0) >= days * DAY_S);
  }

  /** Discard all sent recordings for which `isMeant` holds. */
  discardSent = (isMeant) => this.#discard(isMeant);

  async #discard(isMeant) {
    const store = await this.store;
    const sent = (await store.recordings()).filter((facts) => facts.sent?.state === "imported" && isMeant(facts));
    for (const { id } of sent) await store.remove(id);
    if (sent.length) this.onChange();
  }
}
