import type { AffiliateNoticeKind, Language, NoticeFacts } from './affiliate-kinds.ts';

/*
 * The words of notices to affiliates, as data. In braces: {merchant} the name of the account, {amounts}, {rest} and {withheld} amounts,
 * {day} a day, {number} of the payout, {id} of the affiliate, {email} an address without its name, and others that a line names. A line is left out if one of
 * its values is not known.
 */

interface NoticeText {
  readonly subject: string;
  readonly lines: readonly string[];
}

export interface NoticeTexts extends Readonly<Record<AffiliateNoticeKind, NoticeText>> {
  readonly hello: string;
  /** Without a name. */
  readonly helloUnnamed: string;
  /** How the affiliate is paid. */
  readonly paidThrough: Readonly<Record<'bank' | 'paypal' | 'wise' | 'other', string>>;
  /** At the end of a notice to the former address. */
  readonly former: string;
  /** Above the attached documents. */
  readonly attached: Readonly<Record<'invoice' | 'statement', string>>;
  readonly answer: string;
  /** Above the link. */
  readonly stop: string;
  /** The page of that link. */
  readonly page: {
    readonly title: string;
    readonly lead: string;
    readonly button: string;
    readonly done: string;
    readonly ended: string;
  };
}

/** The forms as everybody calls them. */
export const FORM_NAMES: Readonly<Record<NonNullable<NoticeFacts['form']>, string>> = {
  w8ben: 'W-8BEN',
  w8bene: 'W-8BEN-E',
  w8eci: 'W-8ECI',
  w8exp: 'W-8EXP',
};

export const TEXTS: Readonly<Record<Language, NoticeTexts>> = {
  en: {
    hello: 'Hello {name},',
    helloUnnamed: 'Hello,',
    paid: {
      subject: 'You were paid {amounts}',
      lines: [
        '{merchant} paid you {amounts} on {day} (payout {number}). Your bank or provider may need a few days.',
        'Payment reference: {references}.',
        'The rest of {rest} is part of your next payout.',
        '{withheld} was withheld for the tax office of the United States (backup withholding), because {merchant} has no Form W-9 with your tax id.',
      ],
    },
    returned: {
      subject: 'A payment of {amounts} came back',
      lines: [
        'A payment of {amounts} from {merchant} (payout {number}) came back: {reason}.',
        'The amount is owed to you again and is part of your next payout. Please check with {merchant} where you are paid.',
      ],
    },
    destination_changed: {
      subject: 'Your payment details were changed',
      lines: [
        'Your payment details with {merchant} were changed on {day}.',
        'You are now paid to: {destination}.',
        'E-mails about your payments go to {email}.',
        'If you did not expect this, write to {merchant} at once.',
      ],
    },
    form_lapsing: {
      subject: 'Your tax form {form} is valid until {day}',
      lines: [
        'The {form} that {merchant} has from you is valid until {day}.',
        'Please send {merchant} a new one before then.',
      ],
    },
    agreement_ending: {
      subject: 'Your self-billing agreement is valid until {day}',
      lines: [
        '{merchant} writes the invoices for your payments. You agreed to this until {day}.',
        'Please agree on a new one with {merchant} before then. Otherwise, you must write the invoices for later payments yourself.',
      ],
    },
    paidThrough: {
      bank: 'a bank account ending in {lastFour}',
      paypal: 'PayPal',
      wise: 'Wise',
      other: 'another account',
    },
    former: 'You get this e-mail because {merchant} used this address for your payments until now.',
    attached: { invoice: 'Your invoice is attached.', statement: 'Your statement is attached.' },
    answer: 'Questions? Write to {reply}.',
    stop: 'You get this e-mail because {merchant} pays you as affiliate {id}. To get no more of these e-mails:',
    page: {
      title: 'Stop e-mails about your payments',
      lead: 'You will get no more e-mails about payments from this merchant. You will still be paid.',
      button: 'Stop the e-mails',
      done: 'You will get no more e-mails about payments from this merchant.',
      ended: 'This link is not complete, or no longer works. Answer the e-mail to get no more of them.',
    },
  },
  de: {
    hello: 'Hallo {name},',
    helloUnnamed: 'Hallo,',
    paid: {
      subject: 'Auszahlung: {amounts}',
      lines: [
        '{merchant} hat Ihnen am {day} {amounts} gezahlt (Auszahlung {number}). Bis zur Gutschrift können einige Tage vergehen.',
        'Verwendungszweck: {references}.',
        'Der Rest von {rest} gehört zu Ihrer nächsten Auszahlung.',
        '{withheld} wurden für die Steuerbehörde der USA einbehalten (backup withholding), weil {merchant} kein Formular W-9 mit Ihrer Steuernummer hat.',
      ],
    },
    returned: {
      subject: 'Zahlung zurückgekommen: {amounts}',
      lines: [
        'Eine Zahlung von {merchant} über {amounts} (Auszahlung {number}) kam zurück: {reason}.',
        'Der Betrag steht Ihnen weiter zu und gehört zu Ihrer nächsten Auszahlung. Bitte prüfen Sie mit {merchant}, wohin gezahlt wird.',
      ],
    },
    destination_changed: {
      subject: 'Ihre Zahlungsdaten wurden geändert',
      lines: [
        'Ihre Zahlungsdaten bei {merchant} wurden am {day} geändert.',
        'Sie werden nun bezahlt über: {destination}.',
        'E-Mails über Ihre Zahlungen gehen an {email}.',
        'Wenn Sie das nicht erwartet haben, schreiben Sie sofort an {merchant}.',
      ],
    },
    form_lapsing: {
      subject: 'Ihr Steuerformular {form} gilt bis zum {day}',
      lines: [
        'Das {form}, das {merchant} von Ihnen hat, gilt bis zum {day}.',
        'Bitte senden Sie {merchant} vorher ein neues.',
      ],
    },
    agreement_ending: {
      subject: 'Ihre Vereinbarung über Gutschriften gilt bis zum {day}',
      lines: [
        '{merchant} schreibt die Rechnungen für Ihre Zahlungen als Gutschrift. Dem haben Sie bis zum {day} zugestimmt.',
        'Bitte vereinbaren Sie dies vorher mit {merchant} neu. Sonst müssen Sie die Rechnungen für spätere Zahlungen selbst schreiben.',
      ],
    },
    paidThrough: {
      bank: 'ein Bankkonto mit der Endung {lastFour}',
      paypal: 'PayPal',
      wise: 'Wise',
      other: 'ein anderes Konto',
    },
    former:
      'Sie erhalten diese E-Mail, weil {merchant} diese Adresse bisher für Ihre Zahlungen verwendet hat.',
    attached: {
      invoice: 'Ihre Gutschrift (Rechnung) ist angehängt.',
      statement: 'Ihre Abrechnung ist angehängt.',
    },
    answer: 'Fragen? Schreiben Sie an {reply}.',
    stop: 'Sie erhalten diese E-Mail, weil {merchant} Sie als Partner {id} bezahlt. Keine dieser E-Mails mehr:',
    page: {
      title: 'E-Mails über Zahlungen abbestellen',
      lead: 'Sie erhalten keine E-Mails mehr über Zahlungen dieses Händlers. Bezahlt werden Sie weiterhin.',
      button: 'E-Mails abbestellen',
      done: 'Sie erhalten keine E-Mails mehr über Zahlungen dieses Händlers.',
      ended:
        'Dieser Link ist unvollständig oder gilt nicht mehr. Antworten Sie auf die E-Mail, um keine weiteren zu erhalten.',
    },
  },
  fr: {
    hello: 'Bonjour {name},',
    helloUnnamed: 'Bonjour,',
    paid: {
      subject: 'Versement de {amounts}',
      lines: [
        '{merchant} vous a versé {amounts} le {day} (versement {number}). Votre banque ou votre prestataire peut demander quelques jours.',
        'Référence du paiement : {references}.',
        'Le reste de {rest} fera partie de votre prochain versement.',
        '{withheld} ont été retenus pour l’administration fiscale des États-Unis (backup withholding), car {merchant} n’a pas de formulaire W-9 avec votre numéro fiscal.',
      ],
    },
    returned: {
      subject: 'Paiement de {amounts} retourné',
      lines: [
        'Un paiement de {amounts} de {merchant} (versement {number}) a été retourné : {reason}.',
        'Ce montant vous reste dû et fera partie de votre prochain versement. Veuillez vérifier vos coordonnées de paiement avec {merchant}.',
      ],
    },
    destination_changed: {
      subject: 'Vos coordonnées de paiement ont été modifiées',
      lines: [
        'Vos coordonnées de paiement chez {merchant} ont été modifiées le {day}.',
        'Vous êtes désormais payé par : {destination}.',
        'Les messages sur vos paiements sont envoyés à {email}.',
        'Si vous ne vous y attendiez pas, écrivez immédiatement à {merchant}.',
      ],
    },
    form_lapsing: {
      subject: "Votre formulaire fiscal {form} est valable jusqu'au {day}",
      lines: [
        "Le {form} que {merchant} a reçu de vous est valable jusqu'au {day}.",
        'Veuillez en envoyer un nouveau à {merchant} avant cette date.',
      ],
    },
    agreement_ending: {
      subject: "Votre accord d'autofacturation est valable jusqu'au {day}",
      lines: [
        "{merchant} établit les factures de vos paiements. Vous l'avez accepté jusqu'au {day}.",
        "Veuillez convenir d'un nouvel accord avec {merchant} avant cette date. Sinon, vous devrez établir vous-même les factures des paiements suivants.",
      ],
    },
    paidThrough: {
      bank: 'un compte bancaire se terminant par {lastFour}',
      paypal: 'PayPal',
      wise: 'Wise',
      other: 'un autre compte',
    },
    former:
      "Vous recevez ce message parce que {merchant} utilisait jusqu'ici cette adresse pour vos paiements.",
    attached: {
      invoice: 'Votre facture est jointe à ce message.',
      statement: 'Votre relevé est joint à ce message.',
    },
    answer: 'Des questions ? Écrivez à {reply}.',
    stop: "Vous recevez ce message parce que {merchant} vous paie en tant qu'affilié {id}. Pour ne plus en recevoir :",
    page: {
      title: 'Ne plus recevoir de messages sur vos paiements',
      lead: 'Vous ne recevrez plus de messages sur les paiements de ce marchand. Vous serez toujours payé.',
      button: 'Arrêter les messages',
      done: 'Vous ne recevrez plus de messages sur les paiements de ce marchand.',
      ended: 'Ce lien est incomplet ou ne fonctionne plus. Répondez au message pour ne plus en recevoir.',
    },
  },
  es: {
    hello: 'Hola, {name}:',
    helloUnnamed: 'Hola:',
    paid: {
      subject: 'Pago de {amounts}',
      lines: [
        '{merchant} le pagó {amounts} el {day} (pago {number}). Su banco o proveedor puede tardar unos días.',
        'Referencia del pago: {references}.',
        'El resto de {rest} formará parte de su próximo pago.',
        'Se han retenido {withheld} para la administración tributaria de los Estados Unidos (backup withholding), porque {merchant} no tiene un formulario W-9 con su número fiscal.',
      ],
    },
    returned: {
      subject: 'Pago de {amounts} devuelto',
      lines: [
        'Un pago de {amounts} de {merchant} (pago {number}) fue devuelto: {reason}.',
        'Se le sigue debiendo el importe, que formará parte de su próximo pago. Compruebe con {merchant} sus datos de pago.',
      ],
    },
    destination_changed: {
      subject: 'Se han modificado sus datos de pago',
      lines: [
        'Sus datos de pago con {merchant} se modificaron el {day}.',
        'Ahora se le paga por: {destination}.',
        'Los correos sobre sus pagos se envían a {email}.',
        'Si no lo esperaba, escriba de inmediato a {merchant}.',
      ],
    },
    form_lapsing: {
      subject: 'Su formulario fiscal {form} es válido hasta el {day}',
      lines: [
        'El {form} que {merchant} tiene de usted es válido hasta el {day}.',
        'Envíe uno nuevo a {merchant} antes de esa fecha.',
      ],
    },
    agreement_ending: {
      subject: 'Su acuerdo de autofacturación es válido hasta el {day}',
      lines: [
        '{merchant} emite las facturas de sus pagos. Usted lo aceptó hasta el {day}.',
        'Acuerde uno nuevo con {merchant} antes de esa fecha. De lo contrario, deberá emitir usted las facturas de los pagos posteriores.',
      ],
    },
    paidThrough: {
      bank: 'una cuenta bancaria terminada en {lastFour}',
      paypal: 'PayPal',
      wise: 'Wise',
      other: 'otra cuenta',
    },
    former: 'Recibe este correo porque {merchant} usaba esta dirección para sus pagos hasta ahora.',
    attached: {
      invoice: 'Su factura va adjunta.',
      statement: 'Su extracto va adjunto.',
    },
    answer: '¿Preguntas? Escriba a {reply}.',
    stop: 'Recibe este correo porque {merchant} le paga como afiliado {id}. Para no recibir más:',
    page: {
      title: 'No recibir más correos sobre sus pagos',
      lead: 'No recibirá más correos sobre los pagos de este comerciante. Se le seguirá pagando.',
      button: 'No recibir más correos',
      done: 'No recibirá más correos sobre los pagos de este comerciante.',
      ended: 'Este enlace está incompleto o ya no funciona. Responda al correo para no recibir más.',
    },
  },
};
