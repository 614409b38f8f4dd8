import type { AffiliateNoticeKind, Language } from './affiliate-kinds.ts';

/*
 * The words of notices to affiliates, as data. In braces: {merchant} the name of the account, {amounts} and {rest} amounts,
 * {day} a day, {number} of the payout, {id} of the affiliate, and others that a line names. A line is left out if one of
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
      ],
    },
    returned: {
      subject: 'A payment of {amounts} came back',
      lines: [
        'A payment of {amounts} from {merchant} (payout {number}) came back: {reason}.',
        'The amount is owed to you again and is part of your next payout. Please check with {merchant} where you are paid.',
      ],
    },
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
      ],
    },
    returned: {
      subject: 'Zahlung zurückgekommen: {amounts}',
      lines: [
        'Eine Zahlung von {merchant} über {amounts} (Auszahlung {number}) kam zurück: {reason}.',
        'Der Betrag steht Ihnen weiter zu und gehört zu Ihrer nächsten Auszahlung. Bitte prüfen Sie mit {merchant}, wohin gezahlt wird.',
      ],
    },
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
      ],
    },
    returned: {
      subject: 'Paiement de {amounts} retourné',
      lines: [
        'Un paiement de {amounts} de {merchant} (versement {number}) a été retourné : {reason}.',
        'Ce montant vous reste dû et fera partie de votre prochain versement. Veuillez vérifier vos coordonnées de paiement avec {merchant}.',
      ],
    },
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
      ],
    },
    returned: {
      subject: 'Pago de {amounts} devuelto',
      lines: [
        'Un pago de {amounts} de {merchant} (pago {number}) fue devuelto: {reason}.',
        'Se le sigue debiendo el importe, que formará parte de su próximo pago. Compruebe con {merchant} sus datos de pago.',
      ],
    },
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
